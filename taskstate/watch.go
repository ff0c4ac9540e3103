package taskstate

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"
)

const (
	// watchQueue is how many snapshots wait for a watcher that is slow.
	watchQueue = 64
	// progressEvery is the least time between two progress snapshots of a watch.
	progressEvery = time.Second
)

// errNotYet: Next has nothing to return for now.
var errNotYet = errors.New("no snapshot yet")

// Watch follows one task. It has no goroutine: the store leaves snapshots in the
// queue, and Next, which alone waits, takes them out.
type Watch struct {
	store *Store
	id    string
	wake  chan struct{} // capacity 1: there is something for Next; closed when the watch ends

	// Guarded by store.mu.
	queue   []Task
	held    int       // bytes of Inputs in queue
	touched bool      // there was a Touch after the last snapshot that was queued
	free    time.Time // no progress snapshot before
	err     error     // what Next returns once queue is empty; set when the watch ends
}

// Watch follows a task from how it stands now to its end. Any number of watches
// may follow one task; however slow, they do not hold it up. Close must be
// called. Errors: ErrNotFound, ErrClosed, *DamagedError.
func (s *Store) Watch(id string) (*Watch, error) {
	if !s.issued(id) {
		return nil, ErrNotFound
	}
	w := &Watch{store: s, id: id, wake: make(chan struct{}, 1)}
	if found, err := s.watchLive(w); err != nil {
		return nil, err
	} else if found {
		return w, nil
	}
	t, err := s.getStored(id, s.endedIf(anyones)) // what is no longer in memory has ended, and its end is on disk
	if err != nil {
		return nil, err
	}
	w.put(t)
	w.end(io.EOF)
	return w, nil
}

// watchLive registers w and queues the task as it stands in one critical
// section: no change is missed, and none comes twice.
func (s *Store) watchLive(w *Watch) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, found, err := s.findLive(w.id)
	if !found {
		return false, err
	}
	w.put(t)
	if t.Status.Terminal() {
		w.end(io.EOF)
	} else {
		s.watches[w.id] = append(s.watches[w.id], w)
	}
	return true, nil
}

// Next waits for the next snapshot of the task. The first is how it stands; then
// comes one for each change of Status or Inputs, in order, and at most once a
// second one for the latest Touch, unless a change has brought that along. The
// last is the terminal one, and io.EOF follows it. Where more than 64 wait, or
// more than MaxPayload of Inputs, the oldest are dropped and never the last.
// Other errors: the cause of ctx once it has ended; ErrClosed once the store is
// closed and nothing waits; io.EOF after Close. One goroutine at a time.
func (w *Watch) Next(ctx context.Context) (Task, error) {
	for {
		if ctx.Err() != nil {
			return Task{}, context.Cause(ctx)
		}
		t, wait, err := w.take()
		if !errors.Is(err, errNotYet) {
			return t, err
		}
		w.await(ctx, wait)
	}
}

// take returns a snapshot, or errNotYet and how long progress is still held
// back, 0 if there is none.
func (w *Watch) take() (Task, time.Duration, error) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	switch {
	case len(w.queue) > 0:
		return w.pop(), 0, nil
	case w.err != nil:
		return Task{}, 0, w.err
	case !w.touched:
		return Task{}, 0, errNotYet
	}
	now := time.Now()
	if wait := w.free.Sub(now); wait > 0 {
		return Task{}, wait, errNotYet
	}
	w.touched, w.free = false, now.Add(progressEvery)
	return w.store.live[w.id].task, 0, nil // still there: its end would have ended the watch
}

func (w *Watch) await(ctx context.Context, wait time.Duration) {
	var due <-chan time.Time
	if wait > 0 {
		due = time.After(wait)
	}
	select {
	case <-w.wake:
	case <-due:
	case <-ctx.Done():
	}
}

// Close ends the watch and a Next that waits. It is idempotent and may be called
// from any goroutine.
func (w *Watch) Close() {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.err == nil {
		s.forget(w)
		w.end(io.EOF)
	}
	w.queue, w.err = nil, io.EOF
}

// put queues a snapshot. Touches up to now are in it. store.mu is held.
func (w *Watch) put(t Task) {
	w.queue = append(w.queue, t)
	w.held += len(t.Inputs)
	w.touched = false
	for len(w.queue) > watchQueue || len(w.queue) > 1 && w.held > MaxPayload {
		w.pop()
	}
	w.signal()
}

func (w *Watch) pop() Task {
	t := w.queue[0]
	w.queue = slices.Delete(w.queue, 0, 1)
	w.held -= len(t.Inputs)
	return t
}

func (w *Watch) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // Next will come by anyway
	}
}

// end is called once, with store.mu held, by whoever takes w out of the store's
// watches.
func (w *Watch) end(err error) {
	w.err, w.touched = err, false
	close(w.wake)
}
