// Package pipenet is a network in memory, for tests: a real HTTP server needs neither
// a port nor real time, so that it can stand in a bubble with a clock of its own, and
// thousands can be made in a minute.
package pipenet

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Listener accepts what is dialled on it. It is safe for concurrent use.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// New returns a listener that is open.
func New() *Listener { return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Dial waits until the connection is accepted, the listener closed, or ctx ended;
// the address does not matter.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection; the error is net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close is idempotent. Connections that were accepted stay.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is no address in particular.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{} }
