// Opener opens a state directory's store as the proxy does and says so on
// standard output: the least that a start can take. The options are those of
// package taskstate, whose files they have to match.
package main

import (
	"fmt"
	"os"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

func main() {
	db, err := badger.Open(storeOptions(os.Args[1]))
	if err != nil {
		fmt.Fprintln(os.Stderr, "opener:", err)
		os.Exit(1)
	}
	fmt.Println("open")
	_ = db.Close()
}

func storeOptions(dir string) badger.Options {
	return badger.DefaultOptions(dir).
		WithLogger(nil).
		WithSyncWrites(true).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithVerifyValueChecksum(true).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithIndexCacheSize(0).
		WithMemTableSize(8 << 20).
		WithNumMemtables(2).
		WithValueThreshold(4 << 10).
		WithValueLogFileSize(64 << 20).
		WithNumCompactors(2).
		WithBaseTableSize(2 << 20).
		WithBaseLevelSize(8 << 20).
		WithNumLevelZeroTables(5).
		WithNumLevelZeroTablesStall(15).
		WithCompactL0OnClose(false)
}
