package taskstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// checkManifest refuses a manifest that has become shorter, before Badger deletes
// the tables that it no longer names.
func checkManifest(dir string) error {
	t, found, err := readTally(dir)
	if err != nil || !found {
		return nil // said by checkTrust, once the directory is ours
	}
	var size int64
	if info, err := os.Stat(filepath.Join(dir, manifestFile)); err == nil {
		size = info.Size()
	}
	if size < t.manifest {
		return &DamagedError{Dir: dir, Why: fmt.Sprintf("its %s has %d bytes where there were %d", manifestFile, size, t.manifest)}
	}
	return nil
}

// Loss says what was missing or in doubt when the store was opened, nil if
// nothing was. Tasks may then stand as they did some time earlier, or be unknown.
// None is sent again: those that were not sent yet count as sent, since that may
// just be what was lost.
func (s *Store) Loss() error { return s.loss }

// checkTrust compares the database with the tally and looks through its tables.
// What it finds goes to s.loss; an error means that there is nothing to work with.
func (s *Store) checkTrust() (err error) {
	t, found, err := readTally(s.dir)
	if err != nil {
		s.log.Warn().Err(err).Msg("task store: the tally is damaged and is made anew: whether something is missing cannot be told this time")
	}
	if s.changes, err = s.readChanges(); err != nil {
		return err
	}
	var doubts []error
	if t.changes = max(t.changes, s.ahead); s.changes < t.changes {
		doubts = append(doubts, fmt.Errorf("the last %d of %d changes are missing%s", t.changes-s.changes, t.changes, s.suspects()))
	}
	if t.suspect {
		doubts = append(doubts, errors.New("a write failed before it was closed, and may have come through in part"))
	}
	if bad := s.verifyTables(); bad != nil {
		if s.scan() != nil { // nor would Badger itself survive the place
			return &DamagedError{Dir: s.dir, Why: bad.Error()}
		}
		doubts = append(doubts, bad)
	}
	s.loss = errors.Join(doubts...)
	if !found && s.changes > 0 {
		s.log.Warn().Str("dir", s.dir).Msgf("task store: %s is gone and is made anew: whether something is missing cannot be told this time", tallyFile)
	}
	s.changes = max(s.changes, t.changes)
	if s.loss != nil {
		s.log.Error().Err(s.loss).Str("dir", s.dir).Msg("task store: damaged; what is left is taken up, and what had not been sent is not sent: check the disk")
	}
	return nil
}

// settle makes the state that was found the one to compare with from now on.
func (s *Store) settle() (err error) {
	if s.loss != nil {
		err = s.db.Update(func(txn *badger.Txn) error {
			var w writer
			w.putChanges(s.changes)
			return w.into(txn)
		})
	}
	if err == nil {
		err = s.journal.clear() // Badger has all of it
	}
	if err == nil {
		err = s.beginEpoch()
	}
	if err == nil {
		s.tally, err = openTally(s.dir)
	}
	if err == nil {
		err = s.tally.begin(tally{changes: s.changes})
	}
	return err
}

func (w *writer) putChanges(n uint64) {
	w.set(changesKey, binary.BigEndian.AppendUint64(nil, n))
}

// suspects names the logs that Badger has read to their first damage.
func (s *Store) suspects() string {
	if len(s.logs) == 0 {
		return ""
	}
	return "; they were in " + strings.Join(s.logs, " or ") + ", which is damaged, cut short or gone"
}

// readChanges returns how many commits the database has seen.
func (s *Store) readChanges() (n uint64, err error) {
	err = s.view(func(txn *badger.Txn) error {
		body, err := read(txn, changesKey)
		if err == nil && len(body) == 8 {
			n = binary.BigEndian.Uint64(body)
		}
		return err
	})
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		s.log.Error().Err(err).Msg("task store: the count of changes is damaged")
	}
	return n, nil
}

// scan reads every key.
func (s *Store) scan() error {
	return s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if _, err := it.Item().ValueCopy(nil); err != nil {
				return err
			}
		}
		return nil
	})
}
