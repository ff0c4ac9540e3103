package taskstate

import (
	"errors"
	"sync"
	"time"
)

const (
	// applyEvery is how long a change waits in the journal for others to share
	// Badger's transaction with, unless there are as many as that takes: up to 1.2 MB
	// besides the value log, and some 12,000 keys.
	applyEvery = 200 * time.Millisecond
	applyKeys  = 4000
	applyBytes = 900 << 10
	// applyAgain is when an attempt is repeated for which the disk had no room.
	applyAgain = time.Second
	// maxBacklog is from how many bytes on Badger is too far behind to go on.
	maxBacklog = 64 << 20
)

// errParked: until heal has succeeded Badger gets nothing.
var errParked = errors.New("the disk failed, and what was stored last is in the journal only")

// entered is a batch of changes that is in the journal. Its ends are served from
// memory until Badger has them.
type entered struct {
	number  uint64
	changes []change
	ended   []string
	size    int64
}

// applier gives Badger what is in the journal, in order and in larger
// transactions. It is one goroutine; the committer may park it and write itself.
type applier struct {
	wake chan struct{} // capacity 1

	mu      sync.Mutex // guards what follows
	moved   sync.Cond  // applied, busy or err has changed
	queue   []entered
	bytes   int64  // of queue
	keys    int    // in queue
	last    uint64 // number of the last that was queued
	applied uint64 // and of the last that Badger has
	urgent  int    // how many wait for that
	busy    bool   // a transaction is under way
	parked  bool
	closed  bool
	err     error // why it does not go on
	broken  bool  // for good, until unparked
}

func newApplier() *applier {
	a := &applier{wake: make(chan struct{}, 1)}
	a.moved.L = &a.mu
	return a
}

func (a *applier) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// put queues a batch behind the others.
func (a *applier) put(e entered) {
	a.mu.Lock()
	a.queue = append(a.queue, e)
	a.bytes, a.keys = a.bytes+e.size, a.keys+len(e.changes)
	a.last = e.number
	ready := a.ready(false)
	first := len(a.queue) == 1
	a.mu.Unlock()
	if ready || first {
		a.signal()
	}
}

// ready reports whether there is something to be done now. a.mu is held.
func (a *applier) ready(due bool) bool {
	if len(a.queue) == 0 || a.parked || a.broken {
		return false
	}
	return due || a.err == nil && (a.urgent > 0 || a.closed || a.keys >= applyKeys || a.bytes >= applyBytes)
}

// take returns what goes into the next transaction, or nothing, and for how long
// there will be nothing: 0 for until it is woken.
func (a *applier) take(due bool) (group []entered, wait time.Duration, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ready(due) {
		a.busy = true
		return a.queue[:groupLen(a.queue)], 0, false
	}
	switch {
	case a.parked || a.broken || len(a.queue) == 0:
		wait = 0
	case a.err != nil:
		wait = applyAgain
	default:
		wait = applyEvery
	}
	return nil, wait, a.closed
}

// groupLen is how many batches, one at least, go into one transaction.
func groupLen(queue []entered) int {
	keys, size := 0, int64(0)
	for i, e := range queue {
		keys, size = keys+len(e.changes), size+e.size
		if i > 0 && (keys > applyKeys || size > applyBytes) {
			return i
		}
	}
	return len(queue)
}

// done takes note of what became of a group.
func (a *applier) done(n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy, a.err = false, err
	if err == nil {
		a.drop(n)
	}
	a.moved.Broadcast()
}

// drop takes what Badger has off the queue. a.mu is held.
func (a *applier) drop(n int) {
	for _, e := range a.queue[:n] {
		a.bytes, a.keys = a.bytes-e.size, a.keys-len(e.changes)
		a.applied = e.number
	}
	clear(a.queue[:n])
	if a.queue = a.queue[n:]; len(a.queue) == 0 {
		a.queue = nil
	}
}

func (a *applier) backlog() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bytes
}

// park returns when no transaction is under way, and keeps one from beginning.
func (a *applier) park() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.parked = true
	a.moved.Broadcast() // whoever waits for Badger waits in vain
	for a.busy {
		a.moved.Wait()
	}
}

func (a *applier) unpark() {
	a.mu.Lock()
	a.parked, a.broken, a.err = false, false, nil
	a.mu.Unlock()
	a.signal()
}

// sleep reports whether it slept for the whole time.
func (a *applier) sleep(wait time.Duration) bool {
	var due <-chan time.Time
	if wait > 0 {
		due = time.After(wait)
	}
	select {
	case <-a.wake:
		return false
	case <-due:
		return true
	}
}

func (a *applier) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.broken, a.err = true, err
	a.moved.Broadcast()
}

func (a *applier) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// stuck is why the applier does not go on, nil if it does. a.mu is held.
func (a *applier) stuck() error {
	if a.err == nil && a.parked {
		return errParked
	}
	return a.err
}
