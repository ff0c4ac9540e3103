//go:build unix

package taskstate

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeSpace is how many bytes an ordinary user can still write at dir.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(dir, &st)
		if err == nil {
			return uint64(st.Bavail) * uint64(st.Bsize), nil
		}
		if err != unix.EINTR {
			return 0, fmt.Errorf("free space of %s: %w", dir, err)
		}
	}
}

func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// allocated is what a file takes on disk: Badger's are much longer, with holes.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}

func openToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// lockDir takes the lock that Badger takes on a directory, and does not wait.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("task store: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return func() { f.Close() }, nil
	}
	f.Close()
	if err == unix.EWOULDBLOCK {
		return nil, &HeldError{Dir: dir, PID: holder(dir)}
	}
	return nil, fmt.Errorf("task store: lock %s: %w", dir, err)
}

// syncDir makes the entries of dir durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("task store: %w", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("task store: %w", err)
	}
	return nil
}
