package upstream

import (
	"bytes"
	"io"
	"sync/atomic"
	"time"
)

const (
	// stderrQueued chunks of up to 32 KiB wait for the writer: a burst, not a backlog.
	stderrQueued = 32
	// stderrPatience is waited once for a full queue, so that a writer that is merely slower than the child loses
	// nothing; one that took nothing in this time counts as stuck and is not waited for until it takes something again.
	stderrPatience = 100 * time.Millisecond
)

// stderrForwarder hands bytes to a writer that it does not trust to return.
type stderrForwarder struct {
	w       io.Writer
	queue   chan []byte
	done    chan struct{}
	given   atomic.Bool // given up: what is queued is dropped, not written late
	dropped atomic.Int64
	stuck   bool // of the sending goroutine
}

func newStderrForwarder(w io.Writer) *stderrForwarder {
	return &stderrForwarder{w: w, queue: make(chan []byte, stderrQueued), done: make(chan struct{})}
}

// run writes until finish. A write that fails drops its bytes and says nothing about the next one.
func (f *stderrForwarder) run() {
	defer close(f.done)
	for b := range f.queue {
		n := 0
		if !f.given.Load() {
			n, _ = f.w.Write(b)
		}
		f.dropped.Add(int64(len(b) - n))
	}
}

// send queues a copy of b, or drops b. Only the draining goroutine calls it.
func (f *stderrForwarder) send(b []byte) {
	b = bytes.Clone(b)
	select {
	case f.queue <- b:
		f.stuck = false
		return
	default:
	}
	if f.stuck || !f.wait(b) {
		f.stuck = true
		f.dropped.Add(int64(len(b)))
	}
}

func (f *stderrForwarder) wait(b []byte) bool {
	timer := time.NewTimer(stderrPatience)
	defer timer.Stop()
	select {
	case f.queue <- b:
		return true
	case <-timer.C:
		return false
	}
}

// finish lets the writer take what is queued, but not for long. After it the goroutine of run is left only if the writer
// has not returned: there is no way to take a goroutine back from a Write.
func (f *stderrForwarder) finish() {
	close(f.queue)
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-f.done:
	case <-timer.C:
		f.given.Store(true)
	}
}
