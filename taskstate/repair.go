package taskstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// repairFile marks that Repair is trying to open the store.
const repairFile = "REPAIRING"

// Repair moves a store that cannot be opened because it is damaged into a new
// directory beside its files, dir/damaged-TIME, which it returns, so that Open
// makes a new one. It deletes nothing. A store that opens is left as it is, and
// moved is empty. It waits for nobody: *HeldError while the store is open, here or
// in another process. Errors of Open that are not *DamagedError come back as they
// are: they have another cure.
func Repair(dir string) (moved string, err error) {
	if err := PrepareDir(dir); err != nil {
		return "", err
	}
	crashed := exists(filepath.Join(dir, repairFile)) // opening it ended the process
	if !crashed {
		err = tryOpen(dir)
	}
	var damaged *DamagedError
	if !crashed && !errors.As(err, &damaged) {
		return "", err
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	return moveAside(dir)
}

// tryOpen opens and closes the store. Some damage Badger meets with a panic that
// nobody can catch, so that a mark tells the next attempt.
func tryOpen(dir string) error {
	unlock, err := lockDir(dir)
	if err != nil {
		return err
	}
	mark := filepath.Join(dir, repairFile)
	err = os.WriteFile(mark, nil, 0o600)
	unlock()
	if err != nil {
		return fmt.Errorf("task store: %w", err)
	}
	defer os.Remove(mark)
	s, err := Open(context.Background(), dir, nil)
	if err != nil {
		return err
	}
	return s.Close()
}

func moveAside(dir string) (moved string, err error) {
	names, err := storeFiles(dir)
	if err != nil {
		return "", fmt.Errorf("task store: %w", err)
	}
	moved = filepath.Join(dir, "damaged-"+time.Now().UTC().Format("20060102T150405.000000000Z"))
	if err := os.Mkdir(moved, 0o700); err != nil {
		return "", fmt.Errorf("task store: %w", err)
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(moved, name)); err != nil {
			return moved, fmt.Errorf("task store: moved to %s in part: %w", moved, err)
		}
	}
	return moved, errors.Join(syncDir(moved), syncDir(dir))
}

// storeFiles are those of Badger and ours, and not what else lies in dir. The
// manifest is the last: without it nothing that is left could be taken for a store.
func storeFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".mem", ".vlog", ".sst":
			names = append(names, e.Name())
		}
	}
	for _, name := range []string{"DISCARD", "KEYREGISTRY", "REWRITE-KEYREGISTRY", "MANIFEST-REWRITE", journalFile, spillDir, repairFile, "PROBE", tallyFile, manifestFile} {
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name }) {
			names = append(names, name)
		}
	}
	return names, nil
}
