package taskstate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestOfManyEndsExactlyOneWins(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	for range 20 {
		id := create(t, s, Task{Request: []byte("q")}).ID
		var wins atomic.Int32
		var ends sync.Map
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				task, err := s.Finish(context.Background(), id, Outcome{Status: Failed, Payload: fmt.Append(nil, i)})
				if err == nil {
					wins.Add(1)
				} else if !errors.Is(err, ErrFinished) {
					t.Error(err)
				}
				ends.Store(string(task.Outcome), nil)
			})
			wg.Go(func() { s.MarkDispatched(context.Background(), id) })
			wg.Go(func() { s.Touch(id, fmt.Sprint(i), nil) })
		}
		wg.Wait()
		n := 0
		ends.Range(func(any, any) bool { n++; return true })
		if wins.Load() != 1 || n != 1 {
			t.Fatalf("%d winners, %d different ends", wins.Load(), n)
		}
	}
}

// A call that was sent before it became a task must never look unsent: it would
// be sent again after a crash.
func TestTaskOfASentCallIsNeverUnsent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	id := create(t, s, Task{Dispatched: true, Request: []byte("q")}).ID
	if err := s.MarkDispatched(t.Context(), id); !errors.Is(err, ErrDispatched) {
		t.Errorf("MarkDispatched: %v", err)
	}
	shut(t, s)
	s = open(t, dir, nil)
	for _, task := range append(s.Running(), get(t, s, id)) {
		if !task.Dispatched || task.Request != nil {
			t.Errorf("dispatched %v, request %q", task.Dispatched, task.Request)
		}
	}
	if n := len(s.Running()); n != 1 {
		t.Errorf("%d tasks run, want 1", n)
	}
}

func TestRequestIsDispatchedOnceAndThenGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	id := create(t, s, Task{Request: []byte("secret")}).ID
	var wins atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := s.MarkDispatched(context.Background(), id)
			if err == nil {
				wins.Add(1)
			} else if !errors.Is(err, ErrDispatched) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d callers may send the request", wins.Load())
	}
	for range 2 {
		if got := get(t, s, id); !got.Dispatched || got.Request != nil {
			t.Errorf("%+v", got)
		}
		shut(t, s)
		s = open(t, dir, nil)
	}
	complete(t, s, id, nil)
	if err := s.MarkDispatched(context.Background(), id); !errors.Is(err, ErrFinished) {
		t.Errorf("dispatch after the end: %v", err)
	}
}

// What is queued while a batch is on its way to the disk makes the next one.
func TestSimultaneousCreatesShareTheirSyncs(t *testing.T) {
	dir := t.TempDir()
	var hold atomic.Bool
	release := make(chan struct{})
	s := open(t, dir, &Options{SweepEvery: time.Hour, FreeSpace: func(dir string) (uint64, error) {
		if hold.Swap(false) { // of the first batch
			<-release
		}
		return freeSpace(dir)
	}})
	settle(t, s)
	before := changes(t, dir)
	hold.Store(true)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() { create(t, s, Task{Request: []byte("x")}) })
	}
	for queued := 0; queued == 0 || hold.Load() || queued < 32; runtime.Gosched() {
		s.mu.Lock()
		queued = len(s.queue)
		s.mu.Unlock()
	}
	close(release)
	wg.Wait()
	if n := changes(t, dir) - before; n > 34 {
		t.Errorf("64 Creates took %d transactions", n)
	}
}

func TestCloseIsFinal(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	id := create(t, s, Task{}).ID
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { shut(t, s) })
		wg.Go(func() {
			for {
				if _, err := s.Create(context.Background(), Task{TTL: 1}); err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	wg.Wait()
	if _, err := s.Get(id); !errors.Is(err, ErrClosed) {
		t.Errorf("Get: %v", err)
	}
	if _, err := s.Finish(context.Background(), id, Outcome{Status: Failed}); !errors.Is(err, ErrClosed) {
		t.Errorf("Finish: %v", err)
	}
	s.Touch(id, "late", nil)
}

func TestEndedContextChangesNothing(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	id := create(t, s, Task{}).ID
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, errCreate := s.Create(ctx, Task{TTL: 1})
	_, errFinish := s.Finish(ctx, id, Outcome{Status: Failed})
	for _, err := range []error{errCreate, errFinish, s.MarkDispatched(ctx, id)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if got := s.Running(); len(got) != 1 || got[0].Dispatched {
		t.Errorf("%+v", got)
	}
}
