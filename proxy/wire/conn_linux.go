package wire

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Conn is a TCP connection whose Read and Write cost less: they do not tell the Go
// runtime of a system call that does not wait (file_linux.go). It shows in nothing else;
// any goroutine may use it at any time.
type Conn struct {
	*net.TCPConn
	reading, writing sync.Mutex // each guards one of the calls
	in, out          *fileCall  // nil if there is no way
}

// NewConn takes the connection over.
func NewConn(conn *net.TCPConn) *Conn {
	c := &Conn{TCPConn: conn}
	if raw, err := conn.SyscallConn(); err == nil && !raceEnabled {
		c.in, c.out = newFileCall(raw, unix.SYS_PREADV2, true), newFileCall(raw, unix.SYS_PWRITEV2, true)
	}
	return c
}

// Read is that of net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	if c.in == nil || len(b) == 0 {
		return c.TCPConn.Read(b)
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	switch left := c.in.leaves(b, c.in.raw.Read); {
	case left:
		return c.TCPConn.Read(b)
	case c.in.errno != 0:
		return 0, c.failed("read", c.in.errno)
	case c.in.n == 0:
		return 0, io.EOF
	}
	return c.in.n, nil
}

// Write is that of net.Conn.
func (c *Conn) Write(b []byte) (written int, err error) {
	if c.out == nil || len(b) == 0 {
		return c.TCPConn.Write(b)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	for written < len(b) {
		switch left := c.out.leaves(b[written:], c.out.raw.Write); {
		case left:
			n, err := c.TCPConn.Write(b[written:])
			return written + n, err
		case c.out.errno != 0:
			return written, c.failed("write", c.out.errno)
		case c.out.n == 0:
			return written, io.ErrUnexpectedEOF
		}
		written += c.out.n
	}
	return written, nil
}

// failed is the error of package net. To ask the connection again is no way to it: the
// system reports a reset once.
func (c *Conn) failed(op string, errno syscall.Errno) error {
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, errno)}
}
