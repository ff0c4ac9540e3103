package taskstate

import (
	"encoding/binary"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// sweepChunk is how many tasks are deleted in one op.
const sweepChunk = 100

// expiredTask is an entry of the expiry index whose time has come.
type expiredTask struct {
	key     []byte // in the index
	id      string
	size    int64  // of the outcome
	listed  []byte // key in the list of its owner; empty if it is in none
	alone   bool   // nothing but the entry is to go
	counted bool   // there is one task fewer without it
}

// delete removes the task, or the entry alone.
func (x expiredTask) delete(w *writer) {
	w.delete(x.key)
	if x.alone {
		return
	}
	w.delete(headerKey(x.id))
	w.delete(outcomeKey(x.id))
	if len(x.listed) > 0 {
		w.delete(x.listed)
	}
}

// sweepLoop is the sweeper. It sweeps at once, because a process that serves one
// short session after the other would otherwise never come to it.
func (s *Store) sweepLoop() {
	tick := time.NewTicker(s.opts.SweepEvery)
	defer tick.Stop()
	for over := s.unnamed; ; over = s.gone {
		s.sweep()
		s.redateAll()
		s.sweepSpilled(over)
		s.closeFiles()
		s.collect()
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
	}
}

// sweep deletes what has expired. Badger's own TTL is not used: it deletes up to
// a second early and leaves no trace of what it deleted.
func (s *Store) sweep() {
	for !s.stopping() {
		o := newOp(opExpire, "")
		err := s.submit(o)
		if err != nil && !s.stopping() {
			s.log.Warn().Err(err).Msg("task store: expired tasks are not deleted")
		}
		if err != nil || len(o.gone) < sweepChunk {
			return
		}
	}
}

func (s *Store) stopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// expired returns up to limit entries of the index, oldest first, and the time
// before which nothing else expires: zero if that is not known.
func (s *Store) expired(now time.Time, limit int) (gone []expiredTask, next time.Time, err error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.down != nil {
		return nil, time.Time{}, s.down
	}
	err = s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(expiryPrefix)})
		defer it.Close()
		for it.Rewind(); it.Valid() && len(gone) < limit; it.Next() {
			x, at := s.indexEntry(it.Item())
			if at.After(now) {
				next = at
				return nil
			}
			gone = append(gone, x)
		}
		if !it.Valid() {
			next = now.Add(maxTTL)
		}
		return nil
	})
	s.weigh(gone)
	return gone, next, err
}

// weigh finds out what each deletion comes to. A task may be in the index twice: the
// clock was set back, or a loss had the index made anew. It is then deleted by the
// first entry, and counted there. A task that runs is not deleted by any.
func (s *Store) weigh(gone []expiredTask) {
	seen := make(map[string]bool)
	for i := range gone {
		x := &gone[i]
		if !x.alone && s.holds(x.id) {
			s.log.Warn().Str("task", x.id).Msg("task store: the index of expiry had a task that runs")
			x.alone = true
		}
		if x.alone {
			continue
		}
		there, err := s.has(headerKey(x.id))
		x.counted = (there || err != nil) && !seen[x.id]
		seen[x.id] = true
	}
}

// indexEntry reads one entry of the index. A damaged one is due at once: whose time
// has come is not known.
func (s *Store) indexEntry(item *badger.Item) (expiredTask, time.Time) {
	x := expiredTask{key: item.KeyCopy(nil)}
	at, id, ok := splitExpiryKey(x.key)
	rec, err := item.ValueCopy(nil)
	if err == nil {
		rec, err = unseal(x.key, rec)
	}
	if !ok || err != nil || len(rec) < 8 {
		s.log.Error().Err(err).Hex("key", x.key).Msg("task store: damaged entry in the index of expiry")
		x.alone = true
		return x, time.Time{}
	}
	x.id, x.size, x.listed = id, int64(binary.BigEndian.Uint64(rec)), rec[8:]
	return x, at
}

// expiryEntry is the body of an entry for t, whose outcome has size bytes: all
// that the sweeper must know to delete the task without reading it.
func expiryEntry(t Task, size int64) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(max(size, 0))), listKey(t.Owner, listPosition(t))...)
}
