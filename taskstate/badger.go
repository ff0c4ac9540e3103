package taskstate

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
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
	if err != nil && startInterrupted(err) {
		log.log.Debug().Err(err).Msg("task store: opening again after an interrupted start")
		if db, err = openOnce(dir, log); err != nil && startInterrupted(err) {
			err = &DamagedError{Dir: dir, Why: brief(err)}
		}
	}
	return db, err
}

func startInterrupted(err error) bool { return strings.Contains(err.Error(), "Create a new file") }

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
