//go:build unix

package wire

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// nonBlocking is the way to the descriptor of a file in non-blocking mode, nil for
// anything else.
func nonBlocking(file any) syscall.RawConn {
	conn, ok := file.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	flags := 0
	err = raw.Control(func(fd uintptr) { flags, _ = unix.FcntlInt(fd, unix.F_GETFL, 0) })
	if err != nil || flags&unix.O_NONBLOCK == 0 {
		return nil
	}
	return raw
}

// plainTry writes without waiting to a file in non-blocking mode. Others who share the
// mode may have changed it since: then it is set anew. Who changes it at this very
// moment can make one write wait.
func plainTry(raw syscall.RawConn) func([]byte) int {
	return func(b []byte) (n int) {
		_ = raw.Write(func(fd uintptr) bool {
			if setNonBlocking(fd) == nil {
				n, _ = syscall.Write(int(fd), b)
			}
			return true // also where it would block: the rest is for the goroutine
		})
		return max(n, 0) // an error shows again when the goroutine writes
	}
}

func setNonBlocking(fd uintptr) error {
	if flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		return err
	}
	return unix.SetNonblock(int(fd), true)
}
