package taskstate

import (
	"crypto/rand"
	"encoding/binary"
	"errors"

	"github.com/dgraph-io/badger/v4"
)

// readEpoch is what the entries of the journal were summed with; 0 before there were
// epochs, and where it cannot be read: then the entries are not believed either.
func (s *Store) readEpoch() (epoch uint32) {
	err := s.view(func(txn *badger.Txn) error {
		body, err := read(txn, epochKey)
		if err == nil && len(body) == 4 {
			epoch = binary.BigEndian.Uint32(body)
		}
		return err
	})
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		s.log.Error().Err(err).Msg("task store: the epoch of the journal is damaged")
	}
	return epoch
}

// beginEpoch is for a journal that is empty.
func (s *Store) beginEpoch() error {
	epoch := make([]byte, 4)
	rand.Read(epoch) // never fails
	var w writer
	w.set(epochKey, epoch)
	if err := s.db.Update(func(txn *badger.Txn) error { return w.into(txn) }); err != nil {
		return err
	}
	s.journal.epoch = binary.BigEndian.Uint32(epoch)
	return nil
}
