package taskstate

import "errors"

// replay brings Badger up to the journal, after a process that died.
func (s *Store) replay() (err error) {
	if s.changes, err = s.readChanges(); err != nil {
		return err
	}
	if s.journal, err = openJournal(s.dir); err != nil {
		return err
	}
	if err := s.roomToReplay(); err != nil {
		return err
	}
	if s.fresh { // it was another store's
		return s.journal.clear()
	}
	first, last, err := s.journal.reach()
	switch {
	case err != nil || first == 0 || last < s.changes:
		return err
	case first > s.changes+1: // which the tally may not know
		s.ahead = last
		return nil
	}
	r := replayer{store: s, next: first}
	return errors.Join(s.journal.read(r.take), r.flush())
}

// roomToReplay: Badger must not meet the end of the disk.
func (s *Store) roomToReplay() error {
	info, err := s.journal.file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	free, err := s.opts.FreeSpace(s.dir)
	if need := s.opts.Reserve/2 + 2*uint64(info.Size()); err == nil && free < need {
		err = noSpace(s.dir, free, need)
	}
	return err
}

// replayer gathers entries of the journal into larger transactions. It begins with
// the first, also where Badger has more: Badger knows of a change before it is sure
// of the values in it, and to set them again changes nothing.
type replayer struct {
	store *Store
	next  uint64
	w     writer
	size  int64
}

func (r *replayer) take(number uint64, changes []change) error {
	if number != r.next {
		return nil
	}
	n := sizeOf(changes)
	if r.size+n > applyBytes || len(r.w.changes)+len(changes) > applyKeys {
		if err := r.flush(); err != nil {
			return err
		}
	}
	r.next, r.size = number+1, r.size+n
	r.store.changes = max(r.store.changes, number)
	r.w.changes = append(r.w.changes, changes...)
	return nil
}

func (r *replayer) flush() error {
	if len(r.w.changes) == 0 {
		return nil
	}
	err := r.store.transact(&r.w)
	r.w.changes, r.size = nil, 0
	return err
}
