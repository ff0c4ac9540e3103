package taskstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// formatVersion is the layout that this package writes (doc.go). A store of
// formatBefore is brought up to it (upgrade.go); any other is refused.
const (
	formatVersion = "2"
	formatBefore  = "1"
)

// openStore opens the database and reads what ran when it was last closed or
// its process died. No goroutine of ours runs yet.
func openStore(ctx context.Context, dir string, o Options) (*Store, error) {
	if err := PrepareDir(dir); err != nil {
		return nil, err
	}
	s := newStore(dir, o)
	err := s.checkBeforeOpen()
	if err != nil {
		return nil, err
	}
	if s.db, err = openBadger(ctx, dir, s.badgerLog, o.LockWait); err != nil {
		return nil, err
	}
	for _, step := range []func() error{s.checkFormat, s.replay, s.checkTrust, s.reindex, s.loadCount, s.loadSecret, s.load, s.settle} {
		if err := step(); err != nil {
			return nil, errors.Join(s.damaged(err), s.shutBadger(), s.abandon())
		}
	}
	s.dead.Store(oldValueLogs(dir))
	s.closeFiles()
	return s, nil
}

// abandon closes the files of a store that is not opened.
func (s *Store) abandon() (err error) {
	if s.journal != nil {
		err = s.journal.close()
	}
	if s.tally != nil {
		err = errors.Join(err, s.tally.close())
	}
	return err
}

// checkBeforeOpen refuses what Badger would not survive: a full disk (the system
// kills it with SIGBUS when it writes to its memory map) and some damage.
func (s *Store) checkBeforeOpen() error {
	free, err := s.opts.FreeSpace(s.dir)
	if err != nil {
		return err
	}
	if free < s.opts.Reserve {
		return noSpace(s.dir, free, s.opts.Reserve)
	}
	s.logs = baseNames(filepath.Glob(filepath.Join(s.dir, "*.mem")))
	return cmp.Or(checkManifest(s.dir), checkTables(s.dir, s.badgerLog))
}

// damaged names the store where a record could not be read.
func (s *Store) damaged(err error) error {
	var damaged *DamagedError
	if errors.Is(err, errBadRecord) && !errors.As(err, &damaged) {
		return &DamagedError{Dir: s.dir, Why: err.Error()}
	}
	return err
}

func baseNames(paths []string, _ error) (names []string) {
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}

func noSpace(dir string, free, need uint64) error {
	return fmt.Errorf("task store %s: %d MB free, %d MB needed: %w", dir, free>>20, need>>20, ErrNoSpace)
}

// checkFormat reads the version of the layout, or writes it to a new store.
func (s *Store) checkFormat() error {
	var version []byte
	err := s.view(func(txn *badger.Txn) (err error) {
		version, err = read(txn, formatKey)
		return err
	})
	switch {
	case errors.Is(err, badger.ErrKeyNotFound):
		return s.createFormat()
	case err != nil:
		return &DamagedError{Dir: s.dir, Why: "format record: " + err.Error()}
	case string(version) == formatBefore:
		return s.upgrade()
	case string(version) != formatVersion:
		return fmt.Errorf("task store %s has format %q, this program knows %q: use the version that wrote it, or another directory",
			s.dir, version, formatVersion)
	}
	return nil
}

// createFormat makes a new store in one transaction: what only a new one may do must
// not be left to a next start, to which it would not be new any more.
func (s *Store) createFormat() (err error) {
	if err := s.checkEmpty(); err != nil {
		return err
	}
	if s.journal, err = openJournal(s.dir); err != nil {
		return err
	}
	if err := s.journal.clear(); err != nil { // it was another store's
		return err
	}
	var w writer
	w.set(formatKey, []byte(formatVersion))
	s.makeSecret(&w)
	w.set(taggedKey, s.fingerprint())
	return s.db.Update(func(txn *badger.Txn) error { return w.into(txn) })
}

func (s *Store) checkEmpty() error {
	return s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{})
		defer it.Close()
		if it.Rewind(); it.Valid() && !strings.HasPrefix(string(it.Item().Key()), sentinelPrefix) {
			return &DamagedError{Dir: s.dir, Why: "it holds data but no format record"}
		}
		if t, _, err := readTally(s.dir); err == nil && t.changes > 0 {
			return &DamagedError{Dir: s.dir, Why: fmt.Sprintf("its database is empty after %d changes%s", t.changes, s.suspects())}
		}
		return nil
	})
}

// load brings the running tasks into memory. It reads the small index of them
// and not the finished ones, however many there are. A damaged one does not keep
// the others from running: Get reports it.
func (s *Store) load() error {
	var ids []string
	err := s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(runningPrefix)})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			ids = append(ids, string(it.Item().Key()[len(runningPrefix):]))
		}
		return nil
	})
	for _, id := range ids {
		t, err := s.readTask(id, readTask)
		if err != nil || t.Status.Terminal() {
			s.log.Error().Err(err).Str("task", id).Msg("task store: a task that was running cannot be taken up")
			continue
		}
		s.live[id] = &entry{task: t}
	}
	return err
}

// oldValueLogs is the size of the value log but for the file that was started
// just now. An unknown part of it is dead: if it is large, the first sweep finds
// out.
func oldValueLogs(dir string) int64 {
	var total int64
	files, _ := filepath.Glob(filepath.Join(dir, "*.vlog")) // in order
	for i, f := range files {
		if info, err := os.Stat(f); err == nil && i < len(files)-1 {
			total += info.Size()
		}
	}
	return total
}
