package taskstate

import (
	"errors"
	"fmt"
	"time"
)

const (
	// closeWait is far above what Badger needs to write one memtable. It waits
	// without end where it cannot, as when its directory was deleted.
	closeWait = 5 * time.Second
	// closeRoom is what Badger may write when it closes: one memtable and more.
	closeRoom = 3 * memTableSize
)

// closeDB closes the database for good.
func (s *Store) closeDB() error {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.tally != nil {
		defer s.tally.close()
		defer s.journal.close()
	}
	if s.down != nil { // it could not be healed
		return s.down
	}
	s.down = ErrClosed
	err := s.shutBadger()
	s.closeFiles()
	if err == nil && s.tally != nil {
		err = errors.Join(s.tally.end(tally{changes: s.changes, suspect: s.doubt}), s.emptyJournal())
	}
	return err
}

// emptyJournal leaves in it what Badger could not be given.
func (s *Store) emptyJournal() error {
	if s.doubt || s.applier.backlog() > 0 {
		return nil
	}
	return s.journal.clear()
}

// shutBadger leaves Badger open where closing would not end, or end the process:
// all that was acknowledged is in its logs, as after a kill.
func (s *Store) shutBadger() error {
	if err := s.closable(); err != nil {
		return fmt.Errorf("task store %s was not closed in order, nothing is lost by that: %w", s.dir, err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.db.Close() }() // left behind if Badger never returns
	select {
	case err := <-closed:
		if err != nil {
			return fmt.Errorf("close task store %s: %w", s.dir, err)
		}
		return nil
	case <-time.After(closeWait):
		return fmt.Errorf("close task store %s: not closed after %v; is the disk full or broken?", s.dir, closeWait)
	}
}

func (s *Store) closable() error {
	if s.tally != nil { // else Open has failed
		if err := s.tally.inPlace(); err != nil {
			return err
		}
	}
	free, err := s.opts.FreeSpace(s.dir)
	if err == nil && free < closeRoom {
		err = fmt.Errorf("%d MB free, %d MB needed: %w", free>>20, closeRoom>>20, ErrNoSpace)
	}
	return err
}
