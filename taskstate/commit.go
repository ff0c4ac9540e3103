package taskstate

import (
	"cmp"
	"runtime"
	"time"
)

const (
	// Bounds of one transaction. Badger takes 1.2 MB besides the value log, and
	// extends the value log's memory map, under the readers, beyond 128 MB.
	batchOps   = 100
	batchBytes = 32 << 20

	// touchEvery is how long a Touch may wait for the disk, and how long an end
	// that the disk refused waits for the next attempt.
	touchEvery = time.Second

	// gatherYields is some microseconds, where a sync takes some hundred.
	gatherYields = 8
)

// submit queues o and waits until it is decided and on disk. It cannot be called
// off: whoever asks for a change learns what became of it.
func (s *Store) submit(o *op) error {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.queue = append(s.queue, o)
	}
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	s.wakeCommitter()
	<-o.done
	return o.failed()
}

func (s *Store) wakeCommitter() {
	select {
	case s.wake <- struct{}{}:
	default: // it will come by anyway
	}
}

// commitLoop is the committer: it alone decides changes and writes the journal;
// the applier alone then writes to Badger (but for the collection of the value
// log, which moves values only). What is queued while a batch is synced makes the next batch. The timer runs only while
// there is something for it to do.
func (s *Store) commitLoop() {
	timer := time.NewTimer(touchEvery)
	timer.Stop()
	for armed := false; ; {
		due := false
		select {
		case <-s.wake:
		case <-timer.C:
			armed, due = false, true
		}
		ops, closed := s.take(due)
		for len(ops) > 0 {
			n := batchLen(ops)
			s.commit(ops[:n])
			if ops = ops[n:]; len(ops) == 0 && n > 1 {
				s.gather(n)
			}
		}
		if closed {
			return
		}
		if !armed && s.hasDelayed() {
			timer.Reset(touchEvery)
			armed = true
		}
	}
}

// gather lets those who were just answered come back with their next change,
// before the queue is taken: without that, half of those who write at the same
// time wait for the sync of the other half.
func (s *Store) gather(n int) {
	for range gatherYields {
		s.mu.Lock()
		waiting := len(s.queue)
		s.mu.Unlock()
		if waiting >= n {
			return
		}
		runtime.Gosched()
	}
}

// take returns the queue and, if they are due or this is the last time, ops for
// what was delayed.
func (s *Store) take(due bool) (ops []*op, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ops, s.queue = s.queue, nil
	if !due && !s.closed {
		return ops, false
	}
	return append(ops, s.delayed()...), s.closed
}

// delayed is what is late. s.mu is held.
func (s *Store) delayed() (ops []*op) {
	s.late = false
	for id, e := range s.live {
		if !e.dirty && !e.unsaved {
			continue
		}
		o := newOp(opTouch, id)
		if e.unsaved {
			o.kind = opRetry
		}
		o.task = e.task // for its size only
		ops = append(ops, o)
	}
	return ops
}

func (s *Store) hasDelayed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late
}

// batchLen is how many ops, one at least, go into the next transaction.
func batchLen(ops []*op) int {
	var total int64
	for i, o := range ops {
		total += o.size()
		alone := o.alone() || ops[0].alone()
		if i > 0 && (i == batchOps || total > batchBytes || alone) {
			return i
		}
	}
	return len(ops)
}

// commit decides, writes, publishes and answers one batch.
func (s *Store) commit(batch []*op) {
	unwell := s.heal()
	switch {
	case !batch[0].alone():
		batch = s.expireFirst(batch, unwell)
		e, err := s.write(s.stage(batch, unwell))
		s.publish(batch, err)
		if len(e.changes) > 0 {
			s.applier.put(e) // now: it forgets the ends that are visible
		}
	default:
		if batch[0].err = cmp.Or(unwell, s.drain()); batch[0].err == nil {
			batch[0].err = s.maintain(batch[0])
		}
	}
	for _, o := range batch {
		close(o.done)
	}
}

// maintain does what only the committer may do, while Badger has all changes.
func (s *Store) maintain(o *op) error {
	if o.kind == opRotate {
		return s.rotate()
	}
	return s.flush()
}

// write makes ops durable, all or none, and returns them for the applier.
func (s *Store) write(ops []*op) (e entered, err error) {
	if len(ops) == 0 {
		return e, nil
	}
	s.turn()
	w, stored := s.collected(ops)
	if err := s.journal.append(s.changes+1, w.changes); err != nil {
		s.distrust(ops, err)
		return e, err
	}
	s.written(ops, stored)
	e = entered{number: s.changes, changes: w.changes, size: sizeOf(w.changes)}
	for _, o := range ops {
		if o.kind == opFinish || o.kind == opRetry {
			e.ended = append(e.ended, o.id)
		}
	}
	return e, nil
}

// turn begins another lap of the journal once Badger has all that is in it. If it
// cannot have that now, the journal grows for a while (maxBacklog).
func (s *Store) turn() {
	if s.journal.end >= journalLap && s.drain() == nil {
		s.journal.end = 0
	}
}

// collected is what the next change is made of.
func (s *Store) collected(ops []*op) (w writer, stored int64) {
	for _, o := range ops {
		o.put(&w)
	}
	stored = max(s.stored.Load()+delta(ops, opCreate)+delta(ops, opExpire), 0)
	w.putChanges(s.changes + 1)
	w.putCount(s.changes+1, stored, s.now())
	return w, stored
}

// written takes note of a change that is durable.
func (s *Store) written(ops []*op, stored int64) {
	s.changes++
	s.stored.Store(stored)
	s.meter.wrote(ops)
	s.noteExpiry(ops)
	if err := s.tally.write(tally{changes: s.changes, suspect: s.doubt}); err != nil {
		s.log.Warn().Err(err).Msgf("task store: %s cannot be written and lags behind", tallyFile)
	}
}
