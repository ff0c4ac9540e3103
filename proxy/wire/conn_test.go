package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"golang.org/x/net/nettest"
)

// connPair is both ends of a connection over the loopback interface.
func connPair() (one, other *Conn, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, nil, err
	}
	defer listener.Close()
	dialled, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return nil, nil, nil, err
	}
	accepted, err := listener.Accept()
	if err != nil {
		return nil, nil, nil, errors.Join(err, dialled.Close())
	}
	one, other = NewConn(dialled.(*net.TCPConn)), NewConn(accepted.(*net.TCPConn))
	return one, other, func() { _ = one.Close(); _ = other.Close() }, nil
}

// What every connection has to do: deadlines, closing, many at once.
func TestConnIsOne(t *testing.T) {
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) { return connPair() })
}

// A write of more than the system takes at once waits for the reader, and an end of
// the stream is one.
func TestConnWritesAll(t *testing.T) {
	one, other, stop, err := connPair()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	written := make(chan error, 1)
	go func() {
		n, err := one.Write(text)
		if err == nil && n != len(text) {
			err = io.ErrShortWrite
		}
		written <- errors.Join(err, one.CloseWrite())
	}()
	got, err := io.ReadAll(other)
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes of %d came, and error %v", len(got), len(text), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if n, err := other.Read(nil); n != 0 || err != nil {
		t.Errorf("reading nothing gave %d bytes, error %v", n, err)
	}
}

// What is over or closed is said as package net says it.
func TestConnHasErrorsOfNet(t *testing.T) {
	one, _, stop, err := connPair()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	_ = one.Close()
	for op, use := range map[string]func([]byte) (int, error){"read": one.Read, "write": one.Write} {
		for _, b := range [][]byte{nil, []byte("x")} {
			var call *net.OpError
			if _, err := use(b); !errors.As(err, &call) || call.Op != op || !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s of %d bytes, closed: %v", op, len(b), err)
			}
		}
	}
}
