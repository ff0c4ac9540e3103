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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
