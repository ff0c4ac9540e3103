package runner

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// limitedListener accepts a connection only when fewer than its limit are open.
// For one more it closes the connection that has been idle longest; if none is,
// the new one waits where the kernel keeps it. It is not netutil's, whose
// connections lose CloseWrite: net/http needs that to have a refusal arrive at
// a client that is still sending.
type limitedListener struct {
	*net.TCPListener
	free   chan struct{}
	closed chan struct{}
	close  func() error

	mu   sync.Mutex
	idle []net.Conn // in the order in which they became so
}

func limit(listener *net.TCPListener, connections int) *limitedListener {
	l := &limitedListener{TCPListener: listener, free: make(chan struct{}, connections), closed: make(chan struct{})}
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		return listener.Close()
	})
	return l
}

func (l *limitedListener) Accept() (net.Conn, error) {
	if !l.reserve() {
		return nil, net.ErrClosed
	}
	conn, err := l.AcceptTCP()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limitedConn{TCPConn: conn, release: sync.OnceFunc(func() { <-l.free })}, nil
}

// reserve waits for a place; it is false once the listener is closed.
func (l *limitedListener) reserve() bool {
	select {
	case l.free <- struct{}{}:
		return true
	default:
		l.makeRoom()
	}
	select {
	case l.free <- struct{}{}:
		return true
	case <-l.closed:
		return false
	}
}

func (l *limitedListener) makeRoom() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.idle) > 0 {
		_ = l.idle[0].Close()
	}
}

// note is the server's ConnState.
func (l *limitedListener) note(conn net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = slices.DeleteFunc(l.idle, func(c net.Conn) bool { return c == conn })
	if state == http.StateIdle {
		l.idle = append(l.idle, conn)
	}
}

func (l *limitedListener) Close() error { return l.close() }

type limitedConn struct {
	*net.TCPConn
	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}
