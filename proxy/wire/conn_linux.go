package wire

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Conn is a TCP connection that is read and written at less cost, as [fileCall] says.
// What is new about it shows in nothing else.
type Conn struct {
	*net.TCPConn
	reading, writing sync.Mutex
	in, out          *fileCall // nil if the system has no way
}

// NewConn takes the connection over.
func NewConn(conn *net.TCPConn) *Conn {
	c := &Conn{TCPConn: conn}
	if raw, err := conn.SyscallConn(); err == nil {
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
	switch err := c.in.do(b, c.in.raw.Read); {
	case err != nil || c.in.notTried(): // it has the words for it
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
	if c.out == nil {
		return c.TCPConn.Write(b)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	for written < len(b) {
		switch err := c.out.do(b[written:], c.out.raw.Write); {
		case err != nil || c.out.notTried():
			n, err := c.TCPConn.Write(b[written:])
			return written + n, err
		case c.out.errno != 0:
			return written, c.failed("write", c.out.errno)
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
