package taskstate

import (
	"fmt"
	"io/fs"

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

// syncDir does nothing: Windows cannot sync a directory.
func syncDir(string) error { return nil }
