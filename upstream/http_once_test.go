package upstream

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// net/http takes this header for a promise that repeating does no harm.
var idempotent = http.Header{"Idempotency-Key": {"1"}}

func TestACallIsSentOnceWhenTheServerReadsItAndHangsUp(t *testing.T) {
	for _, protocols := range [][]string{nil, {"h2"}} {
		server := modern(t, map[string]handler{"tools/call": hangUp})
		secure := newTLS(t, server, protocols)
		client := dial(t, secure.URL, func(o *Options) {
			trust(secure)(o)
			o.Header = idempotent
		})
		ask(t, client, "tools/list", `{}`) // the next request finds a connection that was used
		send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_stream_cut", Unknown)
		call := server.expect("tools/call", 1)[0]
		if want := len(protocols) + 1; call.request.ProtoMajor != want {
			t.Errorf("the call went over HTTP/%d, the test is about %d", call.request.ProtoMajor, want)
		}
	}
}

func TestARequestThatTheServerThrowsBackIsRepeatedOnlyIfItReads(t *testing.T) {
	for _, once := range []bool{false, true} {
		server := newThrower(t)
		h, err := newHTTPClient(Options{URL: "https://" + server.Addr().String(), TLS: &tls.Config{InsecureSkipVerify: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.transport.CloseIdleConnections()
		resp, failed := h.do(t.Context(), httpCall{method: http.MethodPost, url: h.endpoint, header: idempotent, body: []byte("{}"), once: once})
		switch seen := server.seen.Load(); {
		case once && (seen != 1 || failed == nil):
			t.Errorf("what must be sent once was sent %d times, %v", seen, failed)
		case !once && (seen != 2 || failed != nil):
			t.Errorf("what may be repeated was sent %d times, %v: the test shows nothing", seen, failed)
		case !once:
			resp.Body.Close()
		}
	}
}

// thrower speaks just enough HTTP/2 to refuse the first request of all with a
// code that net/http answers with a repetition, after it has read the request.
type thrower struct {
	net.Listener
	seen atomic.Int64
}

func newThrower(t *testing.T) *thrower {
	certificate := newTLS(t, http.NotFoundHandler(), nil).TLS.Certificates
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certificate, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &thrower{Listener: listener}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.serve(conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		within(t, "the end of the server", ended)
	})
	return s
}

// Frame types, flags and codes of RFC 9113.
const (
	frameData, frameHeaders, frameReset, frameSettings = 0, 1, 3, 4
	flagEndStream, flagEndHeaders, flagAck             = 1, 4, 1
	codeProtocolError                                  = 1
)

func (s *thrower) serve(conn net.Conn) {
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	_, _ = io.ReadFull(conn, preface)
	writeFrame(conn, frameSettings, 0, 0, nil)
	for {
		kind, flags, id, err := readFrame(conn)
		switch {
		case err != nil:
			return
		case kind == frameSettings && flags&flagAck == 0:
			writeFrame(conn, frameSettings, flagAck, 0, nil)
		case kind == frameData && flags&flagEndStream != 0:
			if s.seen.Add(1) == 1 {
				writeFrame(conn, frameReset, 0, id, binary.BigEndian.AppendUint32(nil, codeProtocolError))
			} else {
				writeFrame(conn, frameHeaders, flagEndHeaders|flagEndStream, id, []byte{0x88}) // :status 200
			}
		}
	}
}

func readFrame(conn net.Conn) (kind, flags byte, id uint32, err error) {
	var head [9]byte
	if _, err = io.ReadFull(conn, head[:]); err == nil {
		_, err = io.CopyN(io.Discard, conn, int64(head[0])<<16|int64(head[1])<<8|int64(head[2]))
	}
	return head[3], head[4], binary.BigEndian.Uint32(head[5:]), err
}

func writeFrame(conn net.Conn, kind, flags byte, id uint32, payload []byte) {
	head := []byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	_, _ = conn.Write(append(binary.BigEndian.AppendUint32(head, id), payload...))
}

func TestACallThatMeetsADeadConnectionGoesOutOnANewOne(t *testing.T) {
	server := modern(t, map[string]handler{"tools/call": result(`{"content":[]}`)})
	h, err := newHTTPClient(Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer h.transport.CloseIdleConnections()
	var dials atomic.Int64
	h.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return &countedConn{Conn: &dyingConn{Conn: conn, writes: 2}}, err
	}
	for i, method := range []string{"tools/list", "tools/call"} {
		body := []byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
		resp, failed := h.do(t.Context(), httpCall{method: http.MethodPost, url: h.endpoint, header: http.Header{}, body: body, once: true})
		if failed != nil {
			t.Fatalf("%s failed: %v", method, failed)
		}
		drop(resp)
		if got := int(dials.Load()); got != i+1 {
			t.Errorf("%d connections for %d requests", got, i+1)
		}
	}
	server.expect("tools/call", 1)
}

func TestACallThatKeepsMeetingDeadConnectionsWasNotSent(t *testing.T) {
	server := modern(t, nil)
	h, err := newHTTPClient(Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	h.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return &countedConn{Conn: &dyingConn{Conn: conn}}, err
	}
	_, failed := h.do(t.Context(), httpCall{method: http.MethodPost, url: h.endpoint, header: http.Header{}, body: []byte("{}"), once: true})
	if failed == nil || failed.Outcome != NotDispatched {
		t.Errorf("got %v, want a failure that says that nothing was sent", failed)
	}
	server.expect("POST", 0)
}

// dyingConn takes some writes and then none. A request is two: head and body.
type dyingConn struct {
	net.Conn
	writes int
}

func (c *dyingConn) Write(b []byte) (int, error) {
	if c.writes--; c.writes < 0 {
		return 0, errors.New("broken pipe")
	}
	return c.Conn.Write(b)
}
