//go:build unix

package runner

import (
	"io"
	"os"
	"syscall"
)

// unblocked returns out as a file in non-blocking mode if it is a pipe or a
// socket, as hosts make them: then a host that does not read holds nobody up
// who writes to it. A terminal is left alone: others share it. Call restore at
// the end.
func unblocked(out io.Writer) (_ io.Writer, restore func()) {
	file, ok := out.(*os.File)
	if !ok {
		return out, func() {}
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return out, func() {}
	}
	fd := int(file.Fd())
	if syscall.SetNonblock(fd, true) != nil {
		return out, func() {}
	}
	return os.NewFile(uintptr(fd), file.Name()), func() { _ = syscall.SetNonblock(fd, false) }
}
