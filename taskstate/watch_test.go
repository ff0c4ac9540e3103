package taskstate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func watch(t testing.TB, s *Store, id string) *Watch {
	t.Helper()
	w, err := s.Watch(id)
	if err != nil {
		t.Fatalf("Watch: %v", err)
	}
	t.Cleanup(w.Close)
	return w
}

// next takes a snapshot that is there at once.
func next(t testing.TB, w *Watch) Task {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	task, err := w.Next(ctx)
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	return task
}

func over(t testing.TB, w *Watch, want error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for range 2 {
		if task, err := w.Next(ctx); !errors.Is(err, want) {
			t.Errorf("Next: %+v, %v, want %v", task, err, want)
		}
	}
}

// idle checks that Next waits, in a bubble, for d.
func idle(t testing.TB, w *Watch, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), d, errNotYet)
	defer cancel()
	if task, err := w.Next(ctx); err != errNotYet {
		t.Errorf("Next: %+v, %v", task, err)
	}
}

func TestWatchesSeeEveryChangeOnceAndInOrder(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, nil)
		id := create(t, s, Task{Request: []byte("q")}).ID
		slow, quick := watch(t, s, id), watch(t, s, id)
		var states []Task
		step := func(change func()) {
			change()
			states = append(states, get(t, s, id))
			same(t, states[len(states)-1], next(t, quick))
			idle(t, quick, time.Minute)
		}
		step(func() {})
		step(func() { ask(t, s, id, `{"a":1}`) })
		step(func() { ask(t, s, id, `{"a":1,"b":2}`) })
		dispatch(t, s, id) // is no change of state
		ask(t, s, newTask(t, s), `{"other":1}`)
		idle(t, quick, time.Minute)
		step(func() { ask(t, s, id, "") })
		ask(t, s, id, "") // changes nothing
		late := watch(t, s, id)
		same(t, states[len(states)-1], next(t, late))
		states = append(states, complete(t, s, id, []byte("x")))
		for _, want := range states {
			same(t, want, next(t, slow))
		}
		same(t, states[len(states)-1], next(t, quick))
		same(t, states[len(states)-1], next(t, late))
		for _, w := range []*Watch{slow, quick, late} {
			over(t, w, io.EOF)
		}
		checkNoWatches(t, s)
		shut(t, s)
	})
}

func newTask(t testing.TB, s *Store) string { return create(t, s, Task{}).ID }

func checkNoWatches(t testing.TB, s *Store) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.watches) > 0 {
		t.Errorf("watches of %d tasks are left behind", len(s.watches))
	}
}

func TestWatchOfAFinishedTaskGivesItOnce(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	id := newTask(t, s)
	complete(t, s, id, []byte("x"))
	w := watch(t, s, id)
	same(t, get(t, s, id), next(t, w))
	over(t, w, io.EOF)
	w.Close()
	for _, id := range []string{"", "../x", rand.Text()} {
		if w, err := s.Watch(id); w != nil || !errors.Is(err, ErrNotFound) {
			t.Errorf("Watch: %v", err)
		}
	}
	shut(t, s)
	if w, err := s.Watch(id); w != nil || !errors.Is(err, ErrClosed) {
		t.Errorf("Watch: %v", err)
	}
}

func TestSlowWatcherLosesTheOldestAndNeverTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		inputs func(i int) string
		n      int // changes
		want   int // of them are kept, the end included
	}{
		"many":  {func(i int) string { return fmt.Sprint(i) }, 100, watchQueue},
		"large": {func(i int) string { return fmt.Sprint(i) + strings.Repeat("x", MaxPayload/4) }, 8, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir(), nil)
			id := newTask(t, s)
			w := watch(t, s, id)
			for i := range c.n {
				ask(t, s, id, c.inputs(i))
			}
			complete(t, s, id, []byte("end"))
			for i := range c.want - 1 {
				want := c.inputs(c.n - c.want + 1 + i)
				if got := next(t, w); string(got.Inputs) != want {
					t.Fatalf("snapshot %d: %.10s, want %.10s", i, got.Inputs, want)
				}
			}
			if got := next(t, w); string(got.Outcome) != "end" {
				t.Errorf("%+v", got)
			}
			over(t, w, io.EOF)
		})
	}
}
