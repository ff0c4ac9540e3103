package taskstate

import (
	"errors"
	"runtime/debug"

	"github.com/dgraph-io/badger/v4"
)

// gcRatio is the share of a value log file that must be garbage before it is
// rewritten without it.
const gcRatio = 0.5

// collect frees the disk of values that were deleted, once there may be enough
// of them. It runs in the sweeper's goroutine: moving values does not disturb the
// committer. Rewriting needs room first, so that it waits on a nearly full disk.
func (s *Store) collect() {
	dead := s.dead.Load()
	crowded := s.crowded.Swap(false) && s.opts.MaxBytes > 0 && dead+s.freed.Load() > 0
	if dead < s.gcAfter && !crowded || s.stopping() || s.suspect.Load() {
		return
	}
	if free, err := s.opts.FreeSpace(s.dir); err != nil || free < s.opts.Reserve {
		s.log.Warn().Err(err).Uint64("free_bytes", free).Msg("task store: no room to clean up the value log")
		return
	}
	if err := s.submit(newOp(opFlush, "")); err != nil {
		s.log.Warn().Err(err).Msg("task store: cannot flush")
		return
	}
	s.dead.Add(-dead)
	s.freed.Store(0)
	s.rewriteFiles()
	if crowded {
		s.squeeze()
	}
}

// squeeze frees what a collection leaves: deleted records in the tables, and what
// is dead in the file that the value log is being written to. That much hardly
// matters but to a store that has to keep to a small MaxBytes.
func (s *Store) squeeze() {
	err := s.guarded(func() error { return s.db.Flatten(2) })
	if err == nil {
		err = s.submit(newOp(opRotate, ""))
	}
	if err != nil {
		s.log.Warn().Err(err).Msg("task store: cannot make it smaller")
		return
	}
	s.rewriteFiles()
}

// rotate opens the database again, which begins another file of the value log.
// Only the committer may call it.
func (s *Store) rotate() error {
	err := s.reopen()
	if s.down != nil {
		s.distrust(nil, err)
	}
	return err
}

// rewriteFiles rewrites one file after the other while any is worth it.
func (s *Store) rewriteFiles() {
	for !s.stopping() {
		err := s.rewriteFile()
		if errors.Is(err, badger.ErrNoRewrite) {
			return
		}
		if err != nil {
			s.log.Warn().Err(err).Msg("task store: cannot clean up the value log")
			return
		}
	}
}

func (s *Store) rewriteFile() error {
	return s.guarded(func() error { return s.db.RunValueLogGC(gcRatio) })
}

// guarded works on the database as view reads it.
func (s *Store) guarded(work func() error) (err error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // as in view
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(brief(p))
		}
	}()
	if s.down != nil || s.suspect.Load() {
		return badger.ErrNoRewrite
	}
	return work()
}

// flush makes Badger write out its memtable and merge its first level: only then
// does it count deleted values as garbage, which under a steady load would
// otherwise never happen. Dropping a prefix forces it, if there is a key under the
// prefix. Only the committer may call it, because Badger refuses other writers
// meanwhile.
func (s *Store) flush() error {
	key := []byte(sentinelPrefix + "x")
	err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(key, nil) })
	if err == nil {
		err = s.db.DropPrefix([]byte(sentinelPrefix))
	}
	if err != nil {
		s.distrust(nil, err)
	}
	return err
}
