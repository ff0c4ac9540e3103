package taskstate

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// applyLoop is the applier's goroutine. It ends once all is done, or cannot be,
// after finish.
func (s *Store) applyLoop() {
	for due := false; ; {
		group, wait, closed := s.applier.take(due)
		due = false
		switch {
		case len(group) > 0:
			s.applier.done(len(group), s.apply(group))
		case closed:
			return
		default:
			due = s.applier.sleep(wait)
		}
	}
}

// apply writes a group in one transaction, and lets go of the ends in it. Badger
// must not meet the end of the disk, so that room is asked for again.
func (s *Store) apply(group []entered) error {
	if err := s.mayApply(group); err != nil {
		return err
	}
	var w writer
	for _, e := range group {
		w.changes = append(w.changes, e.changes...)
	}
	if err := s.transact(&w); err != nil {
		s.applier.fail(err)
		s.suspect.Store(true)
		s.log.Error().Err(err).Str("dir", s.dir).Msg("task store: the disk failed: what was acknowledged is in the journal, and no new tasks are stored until it works again")
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range group {
		for _, id := range e.ended {
			delete(s.live, id)
		}
	}
	return nil
}

func (s *Store) mayApply(group []entered) error {
	var size uint64
	for _, e := range group {
		size += uint64(e.size)
	}
	free, err := s.opts.FreeSpace(s.dir)
	if need := s.opts.Reserve/4 + size; err == nil && free < need {
		err = noSpace(s.dir, free, need)
	}
	if err == nil {
		err = s.tally.inPlace()
	}
	return err
}

// transact writes changes to Badger, all or none, durably.
func (s *Store) transact(w *writer) error {
	err := s.db.Update(func(txn *badger.Txn) error { return w.into(txn) })
	if err == nil && s.badgerLog.syncFailed.Swap(false) {
		err = errors.New("the disk would not sync")
	}
	return err
}

// drain waits until Badger has all that is in the journal by now.
func (s *Store) drain() error {
	a := s.applier
	a.mu.Lock()
	defer a.mu.Unlock()
	a.urgent++
	defer func() { a.urgent-- }()
	for target := a.last; a.applied < target; {
		if err := a.stuck(); err != nil {
			return err
		}
		a.signal()
		a.moved.Wait()
	}
	return nil
}

// catchUp waits for Badger where too much waits for it. Only the committer calls it.
func (s *Store) catchUp() error {
	if s.applier.backlog() <= maxBacklog {
		return nil
	}
	return s.drain()
}

// applyParked does the applier's work while it is parked.
func (s *Store) applyParked() error {
	a := s.applier
	for {
		a.mu.Lock()
		group := a.queue[:groupLen(a.queue)]
		a.mu.Unlock()
		if len(group) == 0 {
			return nil
		}
		if err := s.apply(group); err != nil {
			return err
		}
		a.done(len(group), nil)
	}
}

// finish lets the applier do what is left, and waits for its end.
func (s *Store) finish() error {
	a := s.applier
	a.mu.Lock()
	a.closed = true
	if !a.broken {
		a.err = nil // one more attempt, if there was no room before
	}
	a.mu.Unlock()
	a.signal()
	s.applying.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moved.Broadcast()
	if len(a.queue) > 0 {
		return fmt.Errorf("task store: the last %d changes are in %s of %s only, from where they are taken up when it is opened: %w", a.last-a.applied, journalFile, s.dir, a.stuck())
	}
	return nil
}
