//go:build unix

package runner

import (
	"io"
	"os"
	"syscall"
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

func sameFile(in io.Reader, out *os.File) bool {
	other, ok := in.(*os.File)
	if !ok {
		return false
	}
	a, errA := other.Stat()
	b, errB := out.Stat()
	return errA != nil || errB != nil || os.SameFile(a, b)
}
