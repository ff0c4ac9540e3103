package taskstate

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes the content of f durable, and its length; not its times.
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
