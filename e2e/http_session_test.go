//go:build unix

package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// pid is the upstream process that serves a session.
func (l *listening) pid(t testing.TB, session string) string {
	t.Helper()
	a := l.do(t, rawRequest{Body: toolCall("1", "whoami", `{}`), Header: inSession(session)})
	pid := string(at(a.Result, "structuredContent", "pid"))
	if pid == "" {
		t.Fatalf("no process: status %d, %s", a.Status, a.Body)
	}
	return pid
}

func TestDeletedSessionIsGoneAndItsServerToo(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	first, second := l.openSession(t), l.openSession(t)
	for _, id := range []string{first, second} {
		if len(id) < 22 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			t.Errorf("a session id that can be guessed, or is no header value: %q", id)
		}
	}
	pid := l.pid(t, first)
	if other := l.pid(t, second); other == pid {
		t.Error("two sessions share a server")
	}
	header := inSession(first)
	header["Accept"] = []string{"text/event-stream"}
	get := l.stream(t, rawRequest{Method: "GET", Header: header})
	if a := l.do(t, rawRequest{Method: "DELETE", Header: inSession(first)}); a.Status != http.StatusNoContent && a.Status != http.StatusOK {
		t.Errorf("DELETE: status %d, %s", a.Status, a.Body)
	}
	get.ends()
	l.awaitGone(pid)
	l.do(t, rawRequest{Method: "DELETE", Header: inSession(first)}).refusedWith(t, http.StatusNotFound, 0)
	l.do(t, rawRequest{Body: request("1", "ping", `{}`), Header: inSession(first)}).refusedWith(t, http.StatusNotFound, 0)
	l.pid(t, second)
}

// A call that runs in a session that is deleted reaches its end at the server,
// too.
func TestDeletedSessionCancelsItsCalls(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	id := l.openSession(t)
	header := inSession(id)
	header["Accept"] = []string{streamFirst}
	s := l.stream(t, rawRequest{Body: toolCall("1", "gate", `{"gate":"shut"}`), Header: header})
	l.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	l.do(t, rawRequest{Method: "DELETE", Header: inSession(id)})
	for more := true; more; {
		_, more = s.next()
	}
	l.await("the server to hear of it", func() bool { return seen.count("cancelled gate") == 1 })
}

// An idle session ends, and its server with it; one that is used, or listened
// to, or has a task, does not.
func TestIdleSessionEnds(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = "limits: {session_idle: 1s}\n"
	l := p.listen(t)
	idle, listened := l.openSession(t), l.openSession(t)
	header := inSession(listened)
	header["Accept"] = []string{"text/event-stream"}
	l.stream(t, rawRequest{Method: "GET", Header: header})
	pid := l.pid(t, idle)
	l.awaitGone(pid)
	l.do(t, rawRequest{Body: request("1", "ping", `{}`), Header: inSession(idle)}).refusedWith(t, http.StatusNotFound, 0)
	l.pid(t, listened)
}

// Streams that are open count as use, and no time that a head, a connection or
// a session has ends one.
func TestStreamsOutliveEveryTimeout(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = "limits: {session_idle: 1s, header_timeout: 1s}\n"
	l := p.listen(t)
	session := l.openSession(t)
	header := inSession(session)
	header["Accept"] = []string{"text/event-stream"}
	get := l.stream(t, rawRequest{Method: "GET", Header: header})
	call := l.watch(t, session, toolCall("1", "gate", `{"gate":"a"}`))
	listen := l.stream(t, rawRequest{Body: plain.request("7", "subscriptions/listen", listenTools)})
	listen.want("notifications/subscriptions/acknowledged")
	for range 2 { // a clock: each takes longer than the timeouts
		l.awaitGone(l.pid(t, l.openSession(t)))
	}
	l.do(t, rawRequest{Body: plain.toolCall("8", "changed", `{}`)})
	listen.want("notifications/tools/list_changed")
	l.do(t, rawRequest{Body: toolCall("2", "changed", `{}`), Header: inSession(session)})
	get.want("notifications/tools/list_changed")
	l.do(t, rawRequest{Body: toolCall("3", "release", `{"gate":"a"}`), Header: inSession(session)})
	if m := call.answer("1"); m.Error != nil {
		t.Errorf("the call: %s", m.Raw)
	}
}

// Requests that stand alone start a server again after theirs was idle; their
// task keeps it.
func TestIdleServerOfStatelessHosts(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy")
	p.Config = "limits: {session_idle: 1s}\ntools: {gate: {task: always}}\n"
	l := p.listen(t)
	h := l.join()
	who := func() string {
		return string(at(h.ask(plain.toolCall(h.freshID(), "whoami", `{}`)).Result, "structuredContent", "pid"))
	}
	first := who()
	l.awaitGone(first)
	second := who()
	if second == first || second == "" {
		t.Errorf("after %q came %q", first, second)
	}
	id := taskOf(t, h.ask(declared.toolCall("1", "gate", `{"gate":"a"}`)))
	idle := l.openSession(t)
	l.awaitGone(l.pid(t, idle))
	if now := who(); now != second {
		t.Errorf("a server with a task was ended: %s, then %s", second, now)
	}
	h.ask(plain.toolCall("2", "release", `{"gate":"a"}`))
	finishTask(h, id, "completed")
}

// Full is said, with the name of the limit, and only while it is so.
func TestAllSessionsInUse(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = "limits: {sessions: 2}\n"
	l := p.listen(t)
	first := l.openSession(t)
	header := inSession(first)
	header["Accept"] = []string{"text/event-stream"}
	one := l.stream(t, rawRequest{Method: "GET", Header: header})
	listen := l.stream(t, rawRequest{Body: plain.request("1", "subscriptions/listen", listenTools)})
	listen.want("notifications/subscriptions/acknowledged")
	for _, body := range []string{openRequest, mcpCall(`{"sampling":{}}`)} {
		a := l.do(t, rawRequest{Body: body})
		if why, outcome := reason(a.Error); a.Status != 503 || why != "limit" || outcome != "not_dispatched" || !strings.Contains(a.Body, "limits.sessions") {
			t.Errorf("over the limit: status %d, %s", a.Status, a.Body)
		}
		if a.Header.Get("Retry-After") == "" || string(a.ID) == "" {
			t.Errorf("over the limit: %v, %s", a.Header, a.Body)
		}
	}
	one.close()
	l.await("room for a session that is used", func() bool { return l.do(t, rawRequest{Body: openRequest}).Status == 200 })
	l.do(t, rawRequest{Body: request("1", "ping", `{}`), Header: inSession(first)}).refusedWith(t, http.StatusNotFound, 0)
}

// mcpCall calls release for a client with these capabilities.
func mcpCall(capabilities string) string {
	return request("1", "tools/call", `{"name":"release","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":`+capabilities+`}}`)
}
