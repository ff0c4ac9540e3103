package taskstate

import (
	"errors"
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

// commitLoop is the committer: it alone decides changes and writes to Badger
// (but for the collection of the value log, which moves values only). What is
// queued while a batch is synced makes the next batch. The timer runs only while
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
			ops = ops[n:]
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

func (s *Store) delayed() (ops []*op) {
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
	for _, e := range s.live {
		if e.dirty || e.unsaved {
			return true
		}
	}
	return false
}

// batchLen is how many ops, one at least, go into the next transaction.
func batchLen(ops []*op) int {
	var total int64
	for i, o := range ops {
		total += o.size()
		alone := o.kind == opFlush || ops[0].kind == opFlush
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
	case batch[0].kind != opFlush:
		s.publish(batch, s.write(s.stage(batch, unwell)))
	case unwell != nil:
		batch[0].err = unwell
	default:
		batch[0].err = s.flush()
	}
	for _, o := range batch {
		close(o.done)
	}
}

// write makes ops durable, all or none.
func (s *Store) write(ops []*op) error {
	if len(ops) == 0 {
		return nil
	}
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	for _, o := range ops {
		if err := o.put(txn); err != nil {
			return err
		}
	}
	if err := s.putChanges(txn, s.changes+1); err != nil {
		return err
	}
	err := txn.Commit()
	if err == nil && s.badgerLog.syncFailed.Swap(false) {
		err = errors.New("the disk would not sync")
	}
	if err != nil {
		s.distrust(ops, err)
		return err
	}
	s.changes++
	if err := s.tally.write(tally{changes: s.changes, suspect: s.suspect.Load()}); err != nil {
		s.log.Warn().Err(err).Msgf("task store: %s cannot be written and lags behind", tallyFile)
	}
	return nil
}
