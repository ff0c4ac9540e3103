package wire

import (
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fileCall reads or writes a pipe or a socket, one buffer after the other, and does
// not tell the runtime of the system call. The runtime's watcher of calls that may
// wait, which each of them wakes, takes more of the processor than the call for a
// short message. This call never waits for the peer, in whatever mode the file is: the
// mode belongs to all who share the file, and a call that waited and that the runtime
// does not know of would stop the whole process. For that it does not take long either:
// it moves a piece at most.
type fileCall struct {
	raw     syscall.RawConn
	trap    uintptr // SYS_PREADV2 or SYS_PWRITEV2
	waits   bool    // until the file can be read or written
	lacking bool    // the system cannot do this with the file
	try     func(fd uintptr) bool

	part  unix.Iovec
	n     int
	errno syscall.Errno
}

func newFileCall(raw syscall.RawConn, trap uintptr, waits bool) *fileCall {
	c := &fileCall{raw: raw, trap: trap, waits: waits}
	c.try = c.once
	return c
}

func (c *fileCall) once(fd uintptr) (done bool) {
	const inOrder = ^uintptr(0) // no position: a stream has none
	var n uintptr
	n, _, c.errno = syscall.RawSyscall6(c.trap, fd, uintptr(unsafe.Pointer(&c.part)), 1, inOrder, inOrder, unix.RWF_NOWAIT)
	if c.n = int(n); c.errno != 0 {
		c.n = 0
	}
	return !c.waits || c.errno != syscall.EAGAIN
}

const maxPiece = 64 << 10

// do returns errors of the file, such as its having been closed; what the call
// itself says is in n and errno. Nobody is to ask it again once it is lacking.
func (c *fileCall) do(b []byte, way func(func(uintptr) bool) error) error {
	c.part.Base, c.n, c.errno = unsafe.SliceData(b), 0, 0
	c.part.SetLen(min(len(b), maxPiece))
	err := way(c.try)
	c.part.Base = nil
	c.lacking = c.unknown()
	return err
}

// unknown says that the system cannot do this with the file: pipes before Linux 6.4,
// and sockets of about that age.
func (c *fileCall) unknown() bool {
	return c.errno == syscall.EOPNOTSUPP || c.errno == syscall.ENOSYS || c.errno == syscall.EINVAL || c.errno == syscall.ESPIPE
}

// leaves does the call, and reports whether it is left to the file's own methods, which
// have the words for a deadline and for being closed.
func (c *fileCall) leaves(b []byte, way func(func(uintptr) bool) error) bool {
	return c.lacking || c.do(b, way) != nil || c.lacking || c.errno == syscall.EINTR
}

// tryWriter returns a function that writes as much as w takes without waiting,
// or nil if w cannot be asked that: it must be a file in non-blocking mode.
func tryWriter(w io.Writer) func([]byte) int {
	raw := nonBlocking(w)
	if raw == nil {
		return nil
	}
	c, plain := newFileCall(raw, unix.SYS_PWRITEV2, false), plainTry(raw)
	return func(b []byte) int {
		if !c.lacking {
			_ = c.do(b, raw.Write) // an error shows again when the goroutine writes
		}
		if c.lacking {
			return plain(b)
		}
		return c.n
	}
}

// FileReader returns what reads f at less cost, where the system knows how. For all
// else, and for the words of an error, it reads otherwise. One goroutine may use it,
// beside any that close f or set its deadline.
func FileReader(f *os.File, otherwise io.Reader) io.Reader {
	raw, err := f.SyscallConn()
	if err != nil || f.SetReadDeadline(time.Time{}) != nil { // nobody would say when it can be read
		return otherwise
	}
	return &fileReader{call: newFileCall(raw, unix.SYS_PREADV2, true), otherwise: otherwise}
}

type fileReader struct {
	call      *fileCall
	otherwise io.Reader
}

func (r *fileReader) Read(b []byte) (int, error) {
	switch left := r.call.leaves(b, r.call.raw.Read); {
	case left || r.call.errno != 0:
		return r.otherwise.Read(b)
	case r.call.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return r.call.n, nil
}
