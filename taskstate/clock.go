package taskstate

import (
	"encoding/binary"
	"time"

	"github.com/dgraph-io/badger/v4"
)

const (
	// clockStep is by how much the wall clock may run away from the monotonic one
	// between two looks without having been set, or the machine been suspended.
	clockStep = time.Minute
	// holdBack is how long after a step forward nothing is deleted on the word of
	// the new time alone.
	holdBack = 10 * time.Minute
)

// clock compares the wall clock, by which tasks expire, with the monotonic one.
// It belongs to the committer.
type clock struct {
	wall, mono time.Time     // at the last look
	lag        time.Duration // how far deletion stays behind the wall clock
	until      time.Time     // and until when (monotonic)
}

// look returns the time by which tasks are deleted, and whether the wall clock was
// set back to before what it had shown.
func (c *clock) look(wall, mono time.Time) (by time.Time, back bool) {
	if !c.wall.IsZero() {
		step := wall.Sub(c.wall) - mono.Sub(c.mono)
		switch {
		case step > clockStep:
			c.lag, c.until = c.lag+step, mono.Add(holdBack)
		case step < -clockStep:
			c.lag += step
			back = c.lag < 0
			c.lag = max(c.lag, 0)
		}
	}
	if !mono.Before(c.until) {
		c.lag = 0
	}
	c.wall, c.mono = wall, mono
	return wall.Add(-c.lag), back
}

// now is the time that tasks are stamped with, and served by.
func (s *Store) now() time.Time { return s.opts.wall().UTC().Round(0) }

// deleteBy is the time by which tasks are deleted. Only the committer may call it.
func (s *Store) deleteBy() time.Time {
	before := s.clock.lag
	by, back := s.clock.look(s.now(), time.Now())
	if back {
		s.setBack.Store(true)
	}
	if s.clock.lag > before {
		s.log.Warn().Dur("by", s.clock.lag).Dur("for", holdBack).Msg("task store: the clock was set forward, or the machine slept: what has expired by that is not deleted yet")
	}
	return by
}

// dueAt is when the end of t may be deleted. An end that is dated by a clock that
// has been set back since counts from now.
func dueAt(t Task, now time.Time) time.Time {
	if at := now.Add(t.TTL); at.Before(t.expiry()) {
		return at
	}
	return t.expiry()
}

// redateAll puts right when ends are to be deleted, after the clock was set back:
// they would be kept for as long beyond their time as it was set back by. It runs
// in the sweeper's goroutine.
func (s *Store) redateAll() {
	if !s.setBack.Swap(false) {
		return
	}
	for from := []byte(expiryPrefix); from != nil && !s.stopping(); {
		o := newOp(opRedate, "")
		o.from = from
		if err := s.submit(o); err != nil {
			s.log.Warn().Err(err).Msg("task store: the clock was set back, and some ends may be kept longer than they should")
			s.setBack.Store(true)
			return
		}
		from = o.next
	}
}

// redated is an entry of the expiry index that moves.
type redated struct{ old, new, body []byte }

// misdated looks through a part of the expiry index, and returns where the next
// begins, nil at the end. Entries that cannot be read are left to the sweep.
func (s *Store) misdated(from []byte) (found []redated, next []byte, err error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.down != nil {
		return nil, nil, s.down
	}
	now := s.now()
	err = s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(expiryPrefix)})
		defer it.Close()
		it.Seek(from)
		for n := 0; it.Valid(); it.Next() {
			if n++; n > sweepChunk {
				next = it.Item().KeyCopy(nil)
				return nil
			}
			if r, ok := redate(txn, it.Item().KeyCopy(nil), now); ok {
				found = append(found, r)
			}
		}
		return nil
	})
	return found, next, err
}

func redate(txn *badger.Txn, key []byte, now time.Time) (redated, bool) {
	at, id, ok := splitExpiryKey(key)
	if !ok || !at.After(now) {
		return redated{}, false
	}
	body, err := read(txn, key)
	h, err2 := readHeader(txn, id)
	if err != nil || err2 != nil || !at.After(now.Add(h.task.TTL+clockStep)) {
		return redated{}, false
	}
	return redated{old: key, new: expiryKey(now.Add(h.task.TTL), id), body: body}, true
}

// checkClock tells whether the clock shows less than when the store was last
// written.
func (s *Store) checkClock(count []byte) {
	if len(count) == countLen {
		last := time.Unix(0, int64(binary.BigEndian.Uint64(count[16:])))
		s.setBack.Store(s.now().Before(last.Add(-clockStep)))
	}
}
