package taskstate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
)

// openOnce turns a panic of Badger over damaged files into an error. Panics in
// Badger's own goroutines cannot be caught; its checks of whole tables, which
// panic there, are therefore off.
func openOnce(dir string, log *badgerLog) (db *badger.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, &DamagedError{Dir: dir, Why: "opening panicked: " + brief(p)}
		}
	}()
	db, err = badger.Open(badgerOptions(dir, log))
	if err != nil && registryDamaged(err) && setRegistryAside(dir) == nil {
		log.log.Error().Err(err).Str("dir", dir).Msg("task store: KEYREGISTRY is damaged; it held nothing and is made anew: check the disk")
		db, err = badger.Open(badgerOptions(dir, log))
	}
	return db, explain(dir, err)
}

// registryDamaged: the file of encryption keys. There are none, so that a new
// file is as good.
func registryDamaged(err error) bool {
	for _, text := range []string{"Encryption key mismatch", "sanity text", "IV for key registry"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

func setRegistryAside(dir string) error {
	path := filepath.Join(dir, "KEYREGISTRY")
	return os.Rename(path, path+".damaged")
}

// explain tells damage from what lies with the system. Badger's errors are
// mostly texts.
func explain(dir string, err error) error {
	if err == nil || heldByOther(err) || startInterrupted(err) {
		return err
	}
	for _, of := range []error{syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO} {
		if strings.Contains(err.Error(), of.Error()) {
			return fmt.Errorf("task store %s cannot be opened, but nothing in it is known to be damaged: see to the rights and the disk, or use another directory: %w", dir, err)
		}
	}
	return &DamagedError{Dir: dir, Why: brief(err)}
}
