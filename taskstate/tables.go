package taskstate

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// checkTables looks for what Badger does not survive, or does not notice, when
// it opens its tables. All of them gone from the manifest: it deletes them in
// silence. One cut short: it panics in a goroutine of its own. What else may be
// wrong with the manifest Badger says itself.
func checkTables(dir string, log *badgerLog) error {
	f, err := os.Open(filepath.Join(dir, manifestFile))
	if err != nil {
		return checkNoTables(dir)
	}
	defer f.Close()
	manifest, _, err := badger.ReplayManifestFile(f, 0, badgerOptions(dir, log))
	if err != nil {
		return nil
	}
	for id := range manifest.Tables {
		name := fmt.Sprintf("%06d.sst", id)
		if cut, err := tableIsCut(filepath.Join(dir, name)); err == nil && cut {
			return &DamagedError{Dir: dir, Why: "table " + name + " is cut short"}
		}
	}
	return nil
}

func checkNoTables(dir string) error {
	tables, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
	if len(tables) == 0 {
		return nil
	}
	return &DamagedError{Dir: dir, Why: fmt.Sprintf("%d tables are there but their %s is not", len(tables), manifestFile)}
}

// tableIsCut checks that the lengths at the end of a table point into it. From
// the end these are: that of a checksum, the checksum, that of the index, the
// index; Badger checks the index against the checksum.
func tableIsCut(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	at := info.Size()
	for range 2 {
		var n [4]byte
		if at -= 4; at < 0 {
			return true, nil
		}
		if _, err := f.ReadAt(n[:], at); err != nil {
			return false, err
		}
		if at -= int64(binary.BigEndian.Uint32(n[:])); at < 0 {
			return true, nil
		}
	}
	return false, nil
}
