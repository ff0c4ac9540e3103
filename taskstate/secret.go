package taskstate

import (
	"crypto/rand"
	"errors"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// secretLen is the length of the secret in bytes.
const secretLen = 32

// Secret returns 32 random bytes that were made with the store and are the same
// each time it is opened: a key to sign what must be known again after a
// restart. They must not leave the process.
func (s *Store) Secret() []byte { return slices.Clone(s.secret) }

// loadSecret reads the secret, or makes it: for a new store, and for one that
// was made before there were secrets. A damaged one is replaced. That it no
// longer vouches for what it signed is no reason to keep back the tasks.
func (s *Store) loadSecret() error {
	err := s.view(func(txn *badger.Txn) (err error) {
		s.secret, err = read(txn, secretKey)
		return err
	})
	if err == nil && len(s.secret) == secretLen {
		return nil
	}
	if !errors.Is(err, badger.ErrKeyNotFound) {
		s.log.Error().Err(err).Str("dir", s.dir).
			Msg("task store: the secret is damaged and is made anew: what it has signed is refused from now on; check the disk")
	}
	return s.createSecret()
}

func (s *Store) createSecret() error {
	s.secret = make([]byte, secretLen)
	rand.Read(s.secret) // never fails
	return s.db.Update(func(txn *badger.Txn) error {
		return txn.Set(secretKey, seal(secretKey, s.secret))
	})
}
