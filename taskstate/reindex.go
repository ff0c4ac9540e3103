package taskstate

import (
	"errors"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// reindexChunk is how many tasks are indexed in one transaction.
const reindexChunk = 500

// reindex makes all indexes anew from the headers, where upgrade left its mark or
// where something was lost. It may be broken off anywhere and run again.
func (s *Store) reindex() error {
	if unlisted, err := s.has(unlistedKey); err != nil || !unlisted && s.loss == nil {
		return err
	}
	former, err := s.expiryKeys()
	if err != nil {
		return err
	}
	for from := []byte(headerPrefix); from != nil; {
		tasks, next, err := s.headersFrom(from, reindexChunk)
		if err == nil {
			err = s.index(tasks, former)
		}
		if err != nil {
			return err
		}
		from = next
	}
	return s.db.Update(func(txn *badger.Txn) error { return txn.Delete(unlistedKey) })
}

// expiryKeys is the index of expiry as it stands, by task. An end may have been
// dated by a clock that has been set back since, or be lost.
func (s *Store) expiryKeys() (keys map[string][][]byte, err error) {
	keys = make(map[string][][]byte)
	err = s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(expiryPrefix)})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().KeyCopy(nil)
			if _, id, ok := splitExpiryKey(key); ok {
				keys[id] = append(keys[id], key)
			}
		}
		return nil
	})
	return keys, err
}

func (s *Store) has(key []byte) (found bool, err error) {
	err = s.view(func(txn *badger.Txn) error {
		_, err := txn.Get(key)
		found = err == nil
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		err = nil
	}
	return found, err
}

// headersFrom reads up to limit headers from a key on, and returns the key to go
// on from, nil at the end. Get reports those that cannot be read.
func (s *Store) headersFrom(from []byte, limit int) (tasks []header, next []byte, err error) {
	err = s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(headerPrefix)})
		defer it.Close()
		for it.Seek(from); it.Valid(); it.Next() {
			id := string(it.Item().Key()[len(headerPrefix):])
			if len(tasks) == limit {
				next = headerKey(id)
				return nil
			}
			h, err := readHeader(txn, id)
			if err != nil || !wellFormed(id) {
				s.log.Error().Err(err).Str("task", id).Msg("task store: a task that cannot be read is in no list")
				continue
			}
			tasks = append(tasks, h)
		}
		return nil
	})
	return tasks, next, err
}

// index writes the entries that Create and Finish have written for tasks, in place of
// those in former. After a loss, what seems unsent may have been sent.
func (s *Store) index(tasks []header, former map[string][][]byte) error {
	free, err := s.opts.FreeSpace(s.dir)
	if err != nil {
		return err
	}
	if need := s.opts.Reserve / 2; free < need {
		return noSpace(s.dir, free, need)
	}
	return s.db.Update(func(txn *badger.Txn) error {
		var w writer
		for _, h := range tasks {
			for _, key := range former[h.task.ID] {
				w.delete(key)
			}
			h.index(&w, s.now())
			if s.loss != nil && !h.task.Dispatched && !h.task.Status.Terminal() {
				h.task.Dispatched, h.request = true, -1
				w.set(headerKey(h.task.ID), h.encode())
				w.delete(requestKey(h.task.ID))
			}
		}
		return w.into(txn)
	})
}

// index writes the entries of one task.
func (h header) index(w *writer, now time.Time) {
	t := h.task
	w.set(listKey(t.Owner, listPosition(t)), nil)
	if t.Status.Terminal() {
		w.set(expiryKey(dueAt(t, now), t.ID), expiryEntry(t, h.outcome))
		w.delete(runningKey(t.ID))
	} else {
		w.set(runningKey(t.ID), nil)
	}
}
