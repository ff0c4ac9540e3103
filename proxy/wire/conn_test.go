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

// The words and the kind of an error are those of package net.
func TestConnHasErrorsOfNet(t *testing.T) {
	one, other, stop, err := connPair()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	_ = other.SetLinger(0)
	_ = other.Close() // which resets the connection
	var op *net.OpError
	if _, err := one.Read(make([]byte, 1)); !errors.As(err, &op) || op.Op != "read" {
		t.Errorf("a read of a connection that was reset: %v", err)
	}
	_ = one.Close()
	if _, err := one.Write([]byte("x")); !errors.As(err, &op) || op.Op != "write" || !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write to a closed connection: %v", err)
	}
}
