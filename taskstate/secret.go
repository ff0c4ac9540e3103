package taskstate

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
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

// loadSecret reads the secret, or makes it for a store that was made before there
// were secrets. A damaged one is replaced. That it no longer vouches for what it
// signed is no reason to keep back the tasks. Ids are not tagged by either: there may
// be some without.
func (s *Store) loadSecret() error {
	var tagged []byte
	err := s.view(func(txn *badger.Txn) (err error) {
		tagged, _ = read(txn, taggedKey)
		s.secret, err = read(txn, secretKey)
		return err
	})
	if err == nil && len(s.secret) == secretLen {
		s.tagged = bytes.Equal(tagged, s.fingerprint())
		return nil
	}
	if !errors.Is(err, badger.ErrKeyNotFound) {
		s.log.Error().Err(err).Str("dir", s.dir).
			Msg("task store: the secret is damaged and is made anew: what it has signed is refused from now on; check the disk")
	}
	var w writer
	s.makeSecret(&w)
	return s.db.Update(func(txn *badger.Txn) error { return w.into(txn) })
}

func (s *Store) makeSecret(w *writer) {
	s.secret = make([]byte, secretLen)
	rand.Read(s.secret) // never fails
	w.set(secretKey, s.secret)
}

// fingerprint tells the secret by which ids were tagged from one made later.
func (s *Store) fingerprint() []byte {
	sum := sha256.Sum256(s.secret)
	return sum[:8]
}
