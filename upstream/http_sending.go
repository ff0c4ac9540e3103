package upstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// sending watches one HTTP request leave, to know afterwards whether the server
// can have got it. net/http knows, but does not tell.
//
// net/http repeats a request by itself where a connection dies before the first
// byte of the answer, if it takes the request for idempotent (a header
// Idempotency-Key is enough for that) and can have the body again. What must
// not be sent twice therefore has no GetBody: then it repeats, over HTTP/1 and
// HTTP/2 alike, only what it has not begun to read.
type sending struct {
	written func()

	mu     sync.Mutex
	got    bool
	reused bool
	failed bool         // the request could not be written whole
	conn   *countedConn // of HTTP/1, which it has for itself
	before int64

	text *revocable
}

func (s *sending) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: s.gotConn, WroteRequest: s.wroteRequest})
}

func (s *sending) gotConn(info httptrace.GotConnInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got, s.reused, s.conn = true, info.Reused, nil
	conn := info.Conn
	if secure, ok := conn.(*tls.Conn); ok {
		if secure.ConnectionState().NegotiatedProtocol == "h2" {
			return
		}
		conn = secure.NetConn()
	}
	if s.conn, _ = conn.(*countedConn); s.conn != nil {
		s.before = s.conn.sent.Load()
	}
}

func (s *sending) wroteRequest(info httptrace.WroteRequestInfo) {
	s.mu.Lock()
	s.failed = info.Err != nil
	s.mu.Unlock()
	if info.Err == nil && s.written != nil {
		s.written()
	}
}

// dispatched reports whether the server may have the request. It is asked once
// that has failed, and sees to it that a no stays true.
func (s *sending) dispatched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.got, s.failed:
		return false
	case s.text != nil && s.text.revoke():
		return false
	}
	return s.conn == nil || s.conn.sent.Load() != s.before
}

// stale reports whether the connection had been used before.
func (s *sending) stale() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reused
}

func (s *sending) body(text []byte) io.ReadCloser {
	s.text = &revocable{text: bytes.NewReader(text)}
	return s.text
}

// revocable is a body that can be taken back as long as nobody has read of it.
type revocable struct {
	mu      sync.Mutex
	text    *bytes.Reader
	read    bool
	revoked bool
}

var errRevoked = errors.New("the request was given up")

func (r *revocable) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.revoked {
		return 0, errRevoked
	}
	r.read = true
	return r.text.Read(b)
}

func (r *revocable) Close() error { return nil }

func (r *revocable) revoke() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.revoked = !r.read
	return r.revoked
}

// countedConn counts the bytes that the kernel has taken.
type countedConn struct {
	net.Conn
	sent atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.sent.Add(int64(n))
	return n, err
}
