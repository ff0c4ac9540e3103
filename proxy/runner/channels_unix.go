//go:build unix

package runner

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// unblocked returns out in non-blocking mode if it is a pipe or a socket of its
// own, as hosts make them: then a host that does not read holds nobody up who
// writes to it. What others share is left alone: a terminal, and a socket that
// is the input too. Call restore at the end.
func unblocked(in io.Reader, out io.Writer) (_ io.Writer, restore func()) {
	asIs := func() {}
	file, ok := out.(*os.File)
	if !ok || !isChannel(file) || sameFile(in, file) {
		return out, asIs
	}
	fd, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		return out, asIs
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return out, asIs
	}
	own := os.NewFile(uintptr(fd), file.Name())
	return own, func() {
		_ = syscall.SetNonblock(int(file.Fd()), false) // the mode is shared with out
		_ = own.Close()
	}
}

func isChannel(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// sameFile is false if one is no file, and true if nobody can tell.
func sameFile(one any, file *os.File) bool {
	other, ok := one.(*os.File)
	if !ok {
		return false
	}
	a, errA := other.Stat()
	b, errB := file.Stat()
	return errA != nil || errB != nil || os.SameFile(a, b)
}

// polled returns what reads in on Go's poller and at less cost, if it is a pipe or a
// socket, and else in. Call release at the end.
func polled(in io.Reader) (_ io.Reader, release func()) {
	file, ok := in.(*os.File)
	if !ok || !isPassable(file) {
		return in, func() {}
	}
	again := -1
	withFD(file, func(fd int) { again, _ = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) })
	if again < 0 {
		return in, func() {}
	}
	own, err := newPassedIn(again)
	if err != nil {
		return in, func() {}
	}
	return own.reader(), func() { _ = own.file.Close() }
}
