package taskstate

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// defaultHealEvery is the least time between two attempts to heal a store. Nothing
// but a change that waits for the disk starts one.
const defaultHealEvery = 5 * time.Second

// distrust is called after a write that failed. What it reported as failed may be
// on disk, in the journal or in Badger, which cannot be used any more then: it
// would write on behind a hole in its log, and end the process at the next change
// of its memtable. Until heal succeeds nothing is written. The tally tells the next
// process, should this one end before.
func (s *Store) distrust(batch []*op, err error) {
	s.log.Error().Err(err).Str("dir", s.dir).Msg("task store: the disk failed: no new tasks are stored, and ends are kept in memory, until it works again")
	for _, o := range batch {
		if o.kind == opCreate {
			s.revoked = append(s.revoked, o.task)
		}
	}
	s.why, s.healed, s.doubt = err, time.Now(), true
	s.suspect.Store(true)
	if err := s.tally.write(tally{changes: s.changes, suspect: true}); err != nil {
		s.log.Error().Err(err).Msgf("task store: nor can %s be written", tallyFile)
	}
}

// heal opens the database again, and writes what is in memory, which is right,
// over what may have come through. It returns why nothing can be written.
func (s *Store) heal() error {
	if !s.suspect.Load() {
		return nil
	}
	if s.why == nil { // the applier's write failed; all of it is in the journal
		s.why, s.healed = s.applier.failure(), time.Now()
	}
	if !s.healNow() {
		return s.broken()
	}
	s.applier.park()
	err := s.reopen()
	for _, step := range []func() error{s.applyParked, s.restate, s.journal.clear} {
		if err == nil {
			err = step()
		}
	}
	s.healed = time.Now()
	if err != nil {
		s.why = err
		return s.broken()
	}
	s.revoked, s.why, s.doubt = nil, nil, false
	s.suspect.Store(false)
	s.applier.unpark()
	s.log.Info().Str("dir", s.dir).Msg("task store: the disk works again")
	return s.tally.write(tally{changes: s.changes})
}

// healNow also gives a store that is being closed one chance.
func (s *Store) healNow() bool {
	s.mu.Lock()
	last := s.closed && !s.lastTry
	s.mu.Unlock()
	s.lastTry = s.lastTry || last
	return last || time.Since(s.healed) >= s.healEvery
}

func (s *Store) broken() error {
	return fmt.Errorf("the disk of %s failed, and nothing is stored until it works again: %w", s.dir, s.why)
}

// reopen leaves the store down if it can close the database and cannot open it.
func (s *Store) reopen() error {
	if err := errors.Join(s.closable(), probe(s.dir)); err != nil {
		return err
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.down == nil {
		if s.down = s.shutBadger(); s.down != nil {
			return s.down
		}
	}
	db, err := openTwice(s.dir, s.badgerLog)
	if err != nil {
		s.down = cmp.Or(s.down, err)
		return err
	}
	s.badgerLog.syncFailed.Store(false)
	s.db, s.down = db, nil
	return nil
}

// probe finds out whether the disk takes and keeps anything at all.
func probe(dir string) error {
	path := filepath.Join(dir, "PROBE")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	_, err = f.Write(make([]byte, 64<<10))
	return errors.Join(err, f.Sync(), f.Close())
}

// restate writes all running tasks, and deletes those that were never handed out.
func (s *Store) restate() error {
	ops := s.restated()
	if len(ops) > 0 {
		s.changes++ // past an entry of the journal that has failed, and may be there
	}
	for len(ops) > 0 {
		n := batchLen(ops)
		w, stored := s.collected(ops[:n])
		if err := s.transact(&w); err != nil {
			return err
		}
		s.written(ops[:n], stored)
		ops = ops[n:]
	}
	return nil
}

func (s *Store) restated() (ops []*op) {
	for _, t := range s.revoked {
		o := newOp(opRevoke, t.ID)
		o.task = t
		ops = append(ops, o)
	}
	for _, t := range s.Running() {
		o := newOp(opRestate, t.ID)
		o.task = t
		ops = append(ops, o)
	}
	return ops
}
