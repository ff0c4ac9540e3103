//go:build unix

package wire

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// tryWriter returns a function that writes as much as w takes without waiting,
// or nil if w cannot be asked that: it must be a file in non-blocking mode.
func tryWriter(w io.Writer) func([]byte) int {
	conn, ok := w.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil || !nonBlocking(raw) {
		return nil
	}
	return func(b []byte) (n int) {
		_ = raw.Write(func(fd uintptr) bool {
			n, _ = syscall.Write(int(fd), b)
			return true // also where it would block: the rest is for the goroutine
		})
		return max(n, 0) // an error shows again when the goroutine writes
	}
}

func nonBlocking(raw syscall.RawConn) bool {
	flags := 0
	err := raw.Control(func(fd uintptr) { flags, _ = unix.FcntlInt(fd, unix.F_GETFL, 0) })
	return err == nil && flags&unix.O_NONBLOCK != 0
}
