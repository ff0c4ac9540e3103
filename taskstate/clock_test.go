package taskstate

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// setClock is a wall clock that is set by steps, beside a monotonic one that goes on.
type setClock struct{ by atomic.Int64 }

func (c *setClock) options() *Options {
	return &Options{SweepEvery: time.Minute, wall: func() time.Time { return time.Now().Round(0).Add(time.Duration(c.by.Load())) }}
}

func TestClockThatIsSetForwardForAWhileCostsNoTask(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var c setClock
		s := open(t, dir, c.options())
		short, long := create(t, s, Task{TTL: 2 * time.Minute}).ID, create(t, s, Task{TTL: time.Hour}).ID
		running := create(t, s, Task{TTL: time.Second}).ID
		complete(t, s, short, []byte("x"))
		complete(t, s, long, []byte("x"))
		time.Sleep(time.Minute)
		c.by.Store(int64(50 * 365 * 24 * time.Hour))
		time.Sleep(4 * time.Minute)
		if _, err := s.Get(long); !errors.Is(err, ErrNotFound) {
			t.Errorf("served beyond the time that its host sees: %v", err)
		}
		if got := get(t, s, running); got.Status != Working {
			t.Errorf("%+v", got)
		}
		c.by.Store(int64(0))
		time.Sleep(2 * time.Minute)
		get(t, s, long)
		if n, _ := s.Usage(); n != 2 { // the short one was due by both clocks
			t.Errorf("%d tasks", n)
		}
		shut(t, s)
	})
}

func TestClockThatStaysForwardIsBelievedAfterAWhile(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var c setClock
		s := open(t, dir, c.options())
		complete(t, s, create(t, s, Task{TTL: time.Hour}).ID, []byte("x"))
		running := create(t, s, Task{TTL: time.Second}).ID
		time.Sleep(90 * time.Second)
		c.by.Store(int64(8 * time.Hour)) // a night's sleep
		time.Sleep(holdBack - time.Minute)
		if n, _ := s.Usage(); n != 2 {
			t.Errorf("%d tasks while it is held back", n)
		}
		time.Sleep(3 * time.Minute)
		if n, _ := s.Usage(); n != 1 {
			t.Errorf("%d tasks, want the one that runs", n)
		}
		get(t, s, running)
		shut(t, s)
	})
}

func TestTimesOfATaskKeepTheirOrderWhenTheClockIsSetBack(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var c setClock
		s := open(t, dir, c.options())
		touched, asked, ended := create(t, s, Task{}), create(t, s, Task{}), create(t, s, Task{})
		c.by.Store(int64(-5 * time.Hour))
		s.Touch(touched.ID, "alive", nil)
		if err := s.SetInputs(t.Context(), asked.ID, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		complete(t, s, ended.ID, nil)
		for _, id := range []string{touched.ID, asked.ID, ended.ID} {
			got := get(t, s, id)
			if got.UpdatedAt.Before(got.CreatedAt) || got.Retention(s.now()) < got.TTL {
				t.Errorf("%v, %v, retention %v", got.CreatedAt, got.UpdatedAt, got.Retention(s.now()))
			}
		}
		shut(t, s)
	})
}

// Ends that a clock has dated which was far ahead are kept for their ttl from when
// it was put right, whether the process lives on or not; and what runs is kept.
func TestClockThatIsSetBackKeepsNoEndForEverAndLosesNone(t *testing.T) {
	for name, restart := range map[string]bool{"while it is open": false, "while it is closed": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				var c setClock
				c.by.Store(int64(24 * 365 * time.Hour))
				s := open(t, dir, c.options())
				for range sweepChunk + 5 {
					complete(t, s, create(t, s, Task{TTL: time.Hour}).ID, []byte("x"))
				}
				late, running := create(t, s, Task{TTL: time.Hour}).ID, create(t, s, Task{TTL: time.Second, Request: []byte("q")}).ID
				time.Sleep(2 * time.Minute)
				if restart {
					shut(t, s)
				}
				c.by.Store(int64(0))
				if restart {
					s = open(t, dir, c.options())
				}
				time.Sleep(2 * time.Minute)
				complete(t, s, late, []byte("x"))
				time.Sleep(50 * time.Minute)
				if n, _ := s.Usage(); n != sweepChunk+7 {
					t.Errorf("%d tasks before their time", n)
				}
				time.Sleep(20 * time.Minute)
				if n, _ := s.Usage(); n != 1 || string(get(t, s, running).Request) != "q" {
					t.Errorf("%d tasks, want the one that runs", n)
				}
				shut(t, s)
			})
		})
	}
}
