package taskstate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/rs/zerolog"
)

const (
	manifestFile = badger.ManifestFilename

	// memTableSize must never be lowered: Badger ends the process ("Arena too
	// small") when it opens a directory that was left unclean with a larger one.
	memTableSize = 8 << 20
	// valueThreshold is the size from which a value goes to the value log.
	valueThreshold = 4 << 10
	// valueLogFileSize is also the size of the largest value.
	valueLogFileSize = 64 << 20

	lockPoll = 50 * time.Millisecond
)

// badgerOptions are sized for a process that mostly waits: about 12 MB resident
// and no real disk when empty. SyncWrites makes a returned commit durable; the
// committer alone writes, so conflicts are not looked for. VerifyValueChecksum
// is not for the sake of the bytes (record.go is): without it Badger parses a
// damaged value and keeps the lock of its file, and Close would wait for ever.
func badgerOptions(dir string, log *badgerLog) badger.Options {
	return badger.DefaultOptions(dir).
		WithLogger(log).
		WithSyncWrites(true).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithVerifyValueChecksum(true).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithIndexCacheSize(0).
		WithMemTableSize(memTableSize).
		WithNumMemtables(2).
		WithValueThreshold(valueThreshold).
		WithValueLogFileSize(valueLogFileSize).
		WithNumCompactors(2).
		WithBaseTableSize(2 << 20).
		WithBaseLevelSize(8 << 20).
		WithNumLevelZeroTables(5).
		WithNumLevelZeroTablesStall(15).
		WithCompactL0OnClose(false)
}

// openBadger waits up to wait, or until ctx ends, for another process to let go
// of dir.
func openBadger(ctx context.Context, dir string, log *badgerLog, wait time.Duration) (*badger.DB, error) {
	started := time.Now()
	for {
		db, err := openTwice(dir, log)
		if err == nil || !heldByOther(err) {
			return db, err
		}
		waited := time.Since(started)
		if waited < lockPoll {
			log.log.Warn().Int("process", holder(dir)).Dur("at_most", wait).Msg("task store: waiting for the process that has it open")
		}
		if waited >= wait || ctx.Err() != nil {
			return nil, &HeldError{Dir: dir, PID: holder(dir), Waited: waited.Round(time.Millisecond)}
		}
		select {
		case <-time.After(min(lockPoll, wait-waited)):
		case <-ctx.Done():
		}
	}
}

// openTwice opens once more when Badger reports a file that a kill in the middle
// of an earlier Open left empty: the failed attempt has completed it.
func openTwice(dir string, log *badgerLog) (*badger.DB, error) {
	db, err := openOnce(dir, log)
	if err != nil && strings.Contains(err.Error(), "Create a new file") {
		log.log.Debug().Err(err).Msg("task store: opening again after an interrupted start")
		return openOnce(dir, log)
	}
	return db, err
}

// openOnce turns a panic of Badger over damaged files into an error. Panics in
// Badger's own goroutines cannot be caught; its checks of whole tables, which
// panic there, are therefore off.
func openOnce(dir string, log *badgerLog) (db *badger.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, &DamagedError{Dir: dir, Why: fmt.Sprint("opening panicked: ", p)}
		}
	}()
	db, err = badger.Open(badgerOptions(dir, log))
	if err != nil && !heldByOther(err) {
		err = fmt.Errorf("open task store %s: %w", dir, err)
	}
	return db, err
}

// heldByOther knows Badger's refusals by their texts (unix, Windows): they are
// no values that could be compared.
func heldByOther(err error) bool {
	s := err.Error()
	return strings.Contains(s, "Cannot acquire directory lock") || strings.Contains(s, "Cannot create lock file")
}

// holder reads the process id that Badger leaves in its lock file.
func holder(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

var _ badger.Logger = (*badgerLog)(nil)

// badgerLog passes Badger's log on at debug level, whatever level Badger gives
// it: what matters to a user is said by this package.
type badgerLog struct {
	log        zerolog.Logger
	syncFailed atomic.Bool
}

// Errorf also catches the one failure that Badger logs and does not return: a
// failed sync of the value log, after which a commit is not durable.
func (l *badgerLog) Errorf(format string, args ...any) {
	if strings.HasPrefix(format, "Error while curlf sync") {
		l.syncFailed.Store(true)
	}
	l.put("error", format, args)
}

func (l *badgerLog) Warningf(format string, args ...any) { l.put("warning", format, args) }
func (l *badgerLog) Infof(format string, args ...any)    { l.put("info", format, args) }
func (l *badgerLog) Debugf(string, ...any)               {} // several lines for every commit

func (l *badgerLog) put(level, format string, args []any) {
	if e := l.log.Debug(); e.Enabled() {
		e.Str("badger", level).Msg(strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}
