package taskstate

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// freeSpace is how many bytes this user can still write at dir.
func freeSpace(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return free, nil
}

// Who may enter a directory is inherited from its parent here: a profile is
// closed to other users, and there are no mode bits to check.
func ownedByUs(fs.FileInfo) bool    { return true }
func openToOthers(fs.FileInfo) bool { return false }

// allocated: Windows makes no holes of its own accord.
func allocated(info fs.FileInfo) int64 { return info.Size() }

// lockDir takes the lock that Badger takes on a directory, and does not wait.
func lockDir(dir string) (unlock func(), err error) {
	name, err := windows.UTF16PtrFromString(filepath.Join(dir, "LOCK"))
	if err != nil {
		return nil, fmt.Errorf("task store: %w", err)
	}
	const temporary = windows.FILE_ATTRIBUTE_TEMPORARY | windows.FILE_FLAG_DELETE_ON_CLOSE
	h, err := windows.CreateFile(name, 0, 0, nil, windows.OPEN_ALWAYS, temporary, 0)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return nil, &HeldError{Dir: dir}
	}
	if err != nil {
		return nil, fmt.Errorf("task store: lock %s: %w", dir, err)
	}
	return func() { windows.CloseHandle(h) }, nil
}

// syncDir does nothing: Windows cannot sync a directory.
func syncDir(string) error { return nil }
