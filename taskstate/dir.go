package taskstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// PrepareDir makes dir, or checks that the one that is there is a directory, is
// ours, and is closed to others: requests and outcomes lie in it in the clear.
func PrepareDir(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return makeDir(dir)
	}
	if err != nil {
		return fmt.Errorf("task store: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("task store: %s is not a directory", dir)
	}
	if !ownedByUs(info) {
		return fmt.Errorf("task store: %s belongs to another user", dir)
	}
	if openToOthers(info) {
		return closeToOthers(dir)
	}
	return nil
}

// makeDir makes the new entry durable too: without that a power failure could
// take the directory away with all that was acknowledged.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("task store: %w", err)
	}
	return syncDir(filepath.Dir(dir))
}

// closeToOthers withdraws the rights of others from a directory that holds
// nothing or a store. One that holds something else (a home, /tmp in a
// container) was probably named by mistake and is left as it is.
func closeToOthers(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("task store: %w", err)
	}
	if len(entries) > 0 && !exists(filepath.Join(dir, manifestFile)) {
		return fmt.Errorf("task store: %s is open to other users and holds other files: use an empty directory, or `chmod 700` it", dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("task store: %w", err)
	}
	return nil
}

// closeFiles withdraws the rights of others from the files of the store, which
// Badger makes with whatever the umask leaves. Nobody else gets into the directory
// as it is; this is for copies that keep the modes, and for a directory that
// somebody opens. Changing the umask would change it for the whole process.
func (s *Store) closeFiles() {
	names, err := storeFiles(s.dir)
	for _, name := range append(names, "LOCK") { // where there is one
		path := filepath.Join(s.dir, name)
		info, statErr := os.Stat(path)
		if statErr != nil || !openToOthers(info) {
			continue // deleted meanwhile, or as it should be
		}
		err = errors.Join(err, os.Chmod(path, info.Mode().Perm()&^0o077))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn().Err(err).Msg("task store: a file may be open to other users, were it not for its directory")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
