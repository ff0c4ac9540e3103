package taskstate

import "errors"

// replay brings Badger up to the journal, after a process that died.
func (s *Store) replay() error {
	x, err := s.toReplay()
	switch {
	case err != nil || x.first == 0 || x.last < s.changes:
		return err
	case x.first > s.changes+1: // which the tally may not know
		s.ahead = x.last
		return nil
	}
	if err := s.roomToReplay(x.room); err != nil {
		return err
	}
	r := replayer{store: s, next: x.first}
	return errors.Join(s.journal.read(r.take), r.flush())
}

// toReplay is what the journal holds, which it opens when it knows what Badger has.
func (s *Store) toReplay() (x extent, err error) {
	if s.changes, err = s.readChanges(); err != nil {
		return x, err
	}
	if s.journal == nil { // else createFormat has emptied it
		if s.journal, err = openJournal(s.dir); err != nil {
			return x, err
		}
		s.journal.epoch = s.readEpoch()
	}
	return s.journal.extent()
}

// roomToReplay: Badger must not meet the end of the disk. All is asked for at once: an
// attempt that got half way would leave less room for the next.
func (s *Store) roomToReplay(room uint64) error {
	free, err := s.opts.FreeSpace(s.dir)
	if need := s.opts.Reserve/2 + room; err == nil && free < need {
		err = noSpace(s.dir, free, need)
	}
	return err
}

// besideAChange is what Badger writes of a change besides key and value: heads and
// sums, the number of the version, where in the value log a large value lies.
const besideAChange = 32

// diskFor is how much more of the disk Badger takes at the worst, once it has been
// given changes. A large value is written once, to the value log. All else goes to the
// log of a memtable and, when that is full, to a table, before the log is deleted.
func diskFor(changes []change) (n uint64) {
	for _, c := range changes {
		key, value := uint64(len(c.key)), uint64(len(c.value))
		n += 2 * (key + besideAChange)
		if value < valueThreshold {
			n += value
		}
		n += value
	}
	return n
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
