package wire

import (
	"io"
	"os"
	"syscall"
	"unsafe"
)

// fileCall reads or writes a file in non-blocking mode, one buffer after the
// other, and does not tell the runtime of the system call: it returns at once
// anyhow. The runtime's watcher of calls that may not, which each of them wakes,
// takes more of the processor than the call of a short message, and a fourth of
// what a message takes in all.
type fileCall struct {
	raw   syscall.RawConn
	trap  uintptr // SYS_READ or SYS_WRITE
	waits bool    // until the file can be read or written
	try   func(fd uintptr) bool

	buf   []byte
	n     int
	errno syscall.Errno
}

func newFileCall(raw syscall.RawConn, trap uintptr, waits bool) *fileCall {
	c := &fileCall{raw: raw, trap: trap, waits: waits}
	c.try = c.once
	return c
}

func (c *fileCall) once(fd uintptr) (done bool) {
	var n uintptr
	n, _, c.errno = syscall.RawSyscall(c.trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(c.buf))), uintptr(len(c.buf)))
	if c.n = int(n); c.errno != 0 {
		c.n = 0
	}
	return !c.waits || c.errno != syscall.EAGAIN
}

// do returns errors of the file, such as its having been closed; what the call
// itself says is in n and errno.
func (c *fileCall) do(buf []byte, way func(func(uintptr) bool) error) error {
	c.buf, c.n, c.errno = buf, 0, 0
	err := way(c.try)
	c.buf = nil
	return err
}

// tryWriter returns a function that writes as much as w takes without waiting,
// or nil if w cannot be asked that: it must be a file in non-blocking mode.
func tryWriter(w io.Writer) func([]byte) int {
	raw := nonBlocking(w)
	if raw == nil {
		return nil
	}
	c := newFileCall(raw, syscall.SYS_WRITE, false)
	return func(b []byte) int {
		_ = c.do(b, raw.Write) // an error shows again when the goroutine writes
		return c.n
	}
}

// FileReader returns what reads f at less cost, if f is in non-blocking mode, and
// else f. One goroutine may use it, beside any that close f or set its deadline.
func FileReader(f *os.File) io.Reader {
	raw := nonBlocking(f)
	if raw == nil {
		return f
	}
	return &fileReader{file: f, call: newFileCall(raw, syscall.SYS_READ, true)}
}

type fileReader struct {
	file *os.File
	call *fileCall
}

func (r *fileReader) Read(b []byte) (int, error) {
	switch err := r.call.do(b, r.call.raw.Read); {
	case err != nil || r.call.errno == syscall.EINTR:
		return r.file.Read(b) // which has the better words for it
	case r.call.errno != 0:
		return 0, &os.PathError{Op: "read", Path: r.file.Name(), Err: r.call.errno}
	case r.call.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return r.call.n, nil
}
