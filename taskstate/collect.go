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
	if dead < s.gcAfter || s.stopping() || s.suspect.Load() {
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
	s.rewriteFiles()
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

func (s *Store) rewriteFile() (err error) {
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
	return s.db.RunValueLogGC(gcRatio)
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
