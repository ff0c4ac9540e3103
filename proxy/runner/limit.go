package runner

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// limitedListener hands on a connection only when fewer than its limit are
// open. For one more it closes the connection that has been idle longest; until
// one can be closed the new one waits. It is not netutil's, whose connections
// lose CloseWrite: net/http needs that to have a refusal arrive at a client
// that is still sending.
type limitedListener struct {
	*net.TCPListener
	free   chan struct{}
	closed chan struct{}
	close  func() error

	mu      sync.Mutex
	idle    []idleConn // in the order in which they became so
	waiting bool       // a new connection waits for room
}

type idleConn struct {
	net.Conn
	since time.Time
}

// leastIdle spares a connection whose next request, or whose first over HTTP/2,
// is on its way.
const leastIdle = time.Second

func limit(listener *net.TCPListener, connections int) *limitedListener {
	l := &limitedListener{TCPListener: listener, free: make(chan struct{}, connections), closed: make(chan struct{})}
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		return listener.Close()
	})
	return l
}

func (l *limitedListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	if !l.reserve() {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	return &limitedConn{Conn: wire.NewConn(conn), release: sync.OnceFunc(func() { <-l.free })}, nil
}

// reserve waits for a place; it is false once the listener is closed.
func (l *limitedListener) reserve() bool {
	select {
	case l.free <- struct{}{}:
		return true
	default:
	}
	l.wait(true)
	defer l.wait(false)
	select {
	case l.free <- struct{}{}:
		return true
	case <-l.closed:
		return false
	}
}

func (l *limitedListener) wait(begin bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting = begin; begin {
		l.relieveLocked()
	}
}

// relieveLocked closes a connection as soon as one has been idle long enough.
func (l *limitedListener) relieveLocked() {
	if !l.waiting || len(l.idle) == 0 {
		return
	}
	if left := leastIdle - time.Since(l.idle[0].since); left > 0 {
		time.AfterFunc(left, l.relieve) // it looks again, and does nothing if nobody waits
		return
	}
	closeAside(l.idle[0])
	l.idle = l.idle[1:]
}

func (l *limitedListener) relieve() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.relieveLocked()
}

// note is the server's ConnState.
func (l *limitedListener) note(conn net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = slices.DeleteFunc(l.idle, func(c idleConn) bool { return c.Conn == conn })
	if state == http.StateIdle {
		l.idle = append(l.idle, idleConn{conn, time.Now()})
		l.relieveLocked()
	}
}

// closeAside keeps a client that does not take leave of TLS from holding up
// others: that ends after five seconds by itself.
func closeAside(conn net.Conn) { go conn.Close() }

func (l *limitedListener) Close() error { return l.close() }

type limitedConn struct {
	*wire.Conn
	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
