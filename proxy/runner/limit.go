package runner

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// limitedListener accepts a connection only when fewer than its limit are open.
// For one more it closes the connection that has been idle longest, or the next
// one that becomes idle; until then the new one waits where the kernel keeps
// it. It is not netutil's, whose connections lose CloseWrite: net/http needs
// that to have a refusal arrive at a client that is still sending.
type limitedListener struct {
	*net.TCPListener
	free   chan struct{}
	closed chan struct{}
	close  func() error

	mu      sync.Mutex
	idle    []net.Conn // in the order in which they became so
	waiting bool       // a new connection waits for room
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
	}
	if conn := l.wait(); conn != nil {
		closeAside(conn)
	}
	select {
	case l.free <- struct{}{}:
		return true
	case <-l.closed:
		return false
	}
}

// wait returns the connection that makes room, if there is one already.
func (l *limitedListener) wait() net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting = len(l.idle) == 0; l.waiting {
		return nil
	}
	return l.idle[0]
}

// note is the server's ConnState.
func (l *limitedListener) note(conn net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = slices.DeleteFunc(l.idle, func(c net.Conn) bool { return c == conn })
	switch {
	case state != http.StateIdle:
	case l.waiting:
		l.waiting = false
		closeAside(conn)
	default:
		l.idle = append(l.idle, conn)
	}
}

// closeAside keeps a client that does not take leave of TLS from holding up
// others: that ends after five seconds by itself.
func closeAside(conn net.Conn) { go conn.Close() }

func (l *limitedListener) Close() error { return l.close() }

type limitedConn struct {
	*net.TCPConn
	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}
