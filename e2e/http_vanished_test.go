//go:build unix

package e2e

import (
	"io"
	"maps"
	"net/http"
	"syscall"
	"testing"
)

// A host in a session that goes away in the middle of a call does not keep the
// session, nor its server, for good.
func TestVanishedHostLeavesItsSession(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = "limits: {session_idle: 1s, sessions: 1}\n"
	l := p.listen(t)
	session := l.openSession(t)
	pid := l.pid(t, session)
	s := l.watch(t, session, toolCall("1", "gate", `{"gate":"shut"}`))
	l.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	s.close()
	l.awaitGone(pid)
	l.openSession(t)
}

// An error has its status although the client would rather have a stream.
func TestStatusOfAnErrorWhereAStreamIsPreferred(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "modern")
	l := p.listen(t)
	preferring := http.Header{"Accept": {streamFirst}}
	for body, status := range map[string]int{
		plain.request("1", "tasks/get", `{"taskId":"x"}`): http.StatusBadRequest,
		plain.request("1", "no/such", `{}`):               http.StatusNotFound,
	} {
		l.do(t, rawRequest{Body: body, Header: preferring}).refusedWith(t, status, 0)
	}
	s := l.stream(t, rawRequest{Body: plain.toolCall("2", "echo", `{}`), Header: preferring})
	s.answer("2")
}

// The name of a method is not to be hidden from whoever filters by it.
func TestEncodedMethodIsNoMethod(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "modern")
	l := p.listen(t)
	l.do(t, rawRequest{Body: plain.toolCall("1", "release", `{}`), Header: http.Header{"Mcp-Method": {"=?base64?dG9vbHMvY2FsbA==?="}}}).
		refusedWith(t, http.StatusBadRequest, -32020)
	if n := seen.count("call release"); n != 0 {
		t.Errorf("the tool was called %d times", n)
	}
}

// One owner's many sessions do not end those of another, nor take all.
func TestOwnersShareTheSessions(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = "limits: {sessions: 4}\n"
	withTokens(t, p)
	l := p.listen(t)
	as := func(name string, header http.Header) http.Header {
		maps.Copy(header, bearer(map[string]string{"alice": aliceToken, "bob": bobToken}[name]))
		return header
	}
	open := func(name string) rawAnswer {
		return l.do(t, rawRequest{Body: openRequest, Header: as(name, http.Header{})})
	}
	bob := open("bob").Header.Get("Mcp-Session-Id")
	for i := range 8 {
		if a := open("alice"); a.Status != http.StatusOK {
			t.Fatalf("session %d: status %d, %s", i, a.Status, a.Body)
		}
	}
	if a := l.do(t, rawRequest{Body: request("1", "ping", `{}`), Header: as("bob", inSession(bob))}); a.Status != http.StatusOK {
		t.Errorf("bob's session: status %d, %s", a.Status, a.Body)
	}
	for range 2 { // in use, so that none can make room
		header := as("alice", inSession(open("alice").Header.Get("Mcp-Session-Id")))
		header["Accept"] = []string{"text/event-stream"}
		l.stream(t, rawRequest{Method: "GET", Header: header})
	}
	open("alice").refusedWith(t, http.StatusServiceUnavailable, -32603)
	if a := open("bob"); a.Status != http.StatusOK {
		t.Errorf("bob's second session: status %d, %s", a.Status, a.Body)
	}
}

// A call that is unanswered when the proxy is told to end gets an error, over
// HTTP and on stdio, in both eras.
func TestCallsInFlightAreAnsweredAtTheEnd(t *testing.T) {
	t.Parallel()
	const gate = `{"gate":"shut"}`
	ended := func(t *testing.T, m message) {
		if why, outcome := reason(m.Error); why != "shutdown" || outcome != "unknown" {
			t.Errorf("answered with %s", m.Raw)
		}
	}
	t.Run("over HTTP", func(t *testing.T) {
		t.Parallel()
		p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
		l := p.listen(t)
		session := l.openSession(t)
		older := l.watch(t, session, toolCall("1", "gate", gate))
		newer := l.join()
		newer.send(plain.toolCall("2", "gate", gate))
		l.await("both calls to reach the server", func() bool { return seen.count("call gate") == 2 })
		l.signal(syscall.SIGTERM)
		ended(t, older.answer("1"))
		ended(t, newer.response("2"))
		if status := l.wait(); status != 0 {
			t.Errorf("exit status %d", status)
		}
	})
	t.Run("on stdio", func(t *testing.T) {
		t.Parallel()
		p, seen := proxyAround(t, "legacy")
		h := p.start(t)
		h.send(plain.toolCall("1", "gate", gate))
		h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
		h.signal(syscall.SIGTERM)
		ended(t, h.response("1"))
		h.wait()
	})
}

// A body that is announced and never comes holds no connection for long, also
// where the answer needs no body.
func TestBodyThatNeverComesBehindARefusal(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "modern")
	p.Config = "limits: {connections: 4, header_timeout: 1s}\n"
	withTokens(t, p)
	l := p.listen(t)
	for _, line := range []string{"POST /mcp", "GET /healthz", "POST /nothing", "PUT /mcp"} {
		conn := l.dial(t)
		_, _ = io.WriteString(conn, line+" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n")
	}
	if a := l.do(t, rawRequest{Method: "GET", Path: "/healthz"}); a.Status != http.StatusOK {
		t.Errorf("status %d", a.Status)
	}
}

// A subscription that the server never confirms ends with its session, and when
// it is cancelled, with an answer or without one but not open for ever.
func TestSubscriptionThatIsNeverConfirmedEnds(t *testing.T) {
	t.Parallel()
	s := startModern(t, map[string]act{"subscriptions/listen": hanging})
	p := proxyTo(t, s)
	l := p.listen(t)
	session := l.openSession(t)
	subscribe := l.watch(t, session, request("1", "resources/subscribe", `{"uri":"x:y"}`))
	other := l.watch(t, session, request("2", "resources/subscribe", `{"uri":"x:z"}`))
	l.await("the server to hear of both", func() bool { return len(s.visits("subscriptions/listen")) >= 2 })
	l.do(t, rawRequest{Body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, Header: inSession(session)})
	subscribe.ends()
	l.do(t, rawRequest{Method: "DELETE", Header: inSession(session)})
	if m := other.answer("2"); m.Error == nil {
		t.Errorf("answered with %s", m.Raw)
	}
}
