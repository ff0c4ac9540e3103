package e2e

import (
	"fmt"
	"net/http"
	"testing"
)

// resume opens a stream by GET that goes on behind the last event that s saw.
func (l *listening) resume(t testing.TB, session string, s *rawStream) *rawStream {
	t.Helper()
	header := inSession(session)
	header["Accept"], header["Last-Event-ID"] = []string{"text/event-stream"}, []string{s.last}
	return l.stream(t, rawRequest{Method: "GET", Header: header})
}

// watch opens the stream of a call in a session.
func (l *listening) watch(t testing.TB, session, body string) *rawStream {
	t.Helper()
	header := inSession(session)
	header["Accept"] = []string{streamFirst}
	return l.stream(t, rawRequest{Body: body, Header: header})
}

func slowWithProgress(seconds string) string {
	return request("1", "tools/call", `{"name":"slow","arguments":{"seconds":`+seconds+`},"_meta":{"progressToken":"p"}}`)
}

// steps insists on the progress from one step to another, in order.
func (s *rawStream) steps(from, to int) {
	s.t.Helper()
	for step := from; step <= to; step++ {
		m := s.want("notifications/progress")
		if got := string(at(m.Params, "progress")); got != fmt.Sprint(step) {
			s.t.Fatalf("step %s, want %d", got, step)
		}
	}
}

// A stream of a session that was cut goes on where the client says, with what
// it missed and the answer, each once (2025-11-25, Transports, Resumability and
// Redelivery). It may be cut again and again.
func TestCutStreamIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	session := l.openSession(t)
	s := l.watch(t, session, slowWithProgress("1"))
	for step := 1; step <= 7; step += 2 {
		s.steps(step, step+1)
		s.close()
		s = l.resume(t, session, s)
	}
	s.steps(9, 10)
	if m := s.answer("1"); m.Error != nil {
		t.Errorf("the call failed: %s", m.Raw)
	}
	if n := seen.count("call slow"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// All that happened while nobody was connected is there afterwards.
func TestCutStreamWaitsForItsClient(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	session := l.openSession(t)
	s := l.watch(t, session, slowWithProgress("0.3"))
	s.steps(1, 1)
	s.close()
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`
	l.do(t, rawRequest{Body: cancelled, Header: inSession(session)})
	l.do(t, rawRequest{Body: toolCall("2", "slow", `{"seconds":0.6}`), Header: inSession(session)}) // the first one is over then
	s = l.resume(t, session, s)
	s.steps(2, 10)
	s.answer("1")
	if n := seen.count("call slow"); n != 2 {
		t.Errorf("the tool was called %d times", n)
	}
}

// News that came while the stream for them was cut is not lost either.
func TestCutStreamForNews(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	session := l.openSession(t)
	header := inSession(session)
	header["Accept"] = []string{"text/event-stream"}
	news := l.stream(t, rawRequest{Method: "GET", Header: header})
	change := func(id string) {
		l.do(t, rawRequest{Body: toolCall(id, "changed", `{}`), Header: inSession(session)})
	}
	change("1")
	for _, list := range []string{"tools", "prompts", "resources"} {
		news.want("notifications/" + list + "/list_changed")
	}
	news.close()
	change("2")
	news = l.resume(t, session, news)
	for _, list := range []string{"tools", "prompts", "resources"} {
		news.want("notifications/" + list + "/list_changed")
	}
}

// A stream is its session's: the same event id in another one is none.
func TestCutStreamOfAnotherSession(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	session, other := l.openSession(t), l.openSession(t)
	s := l.watch(t, session, slowWithProgress("0.5"))
	s.steps(1, 2)
	s.close()
	header := inSession(other)
	header["Accept"], header["Last-Event-ID"] = []string{"text/event-stream"}, []string{s.last}
	l.do(t, rawRequest{Method: "GET", Header: header}).refusedWith(t, http.StatusBadRequest, -32600)
	l.do(t, rawRequest{Method: "DELETE", Header: inSession(other)})
	s = l.resume(t, session, s)
	s.steps(3, 10)
	s.answer("1")
}

// Event ids that the client makes up are refused, lest it waits for what will
// never come; an empty one is none.
func TestEventIDsThatNobodyGave(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	session := l.openSession(t)
	for _, id := range []string{"", "x", "1", "1-", "-1", "1--1", "99-0", "1-99999999999999999999", "1-9223372036854775807", "-"} {
		header := inSession(session)
		header["Accept"], header["Last-Event-ID"] = []string{"text/event-stream"}, []string{id}
		r := rawRequest{Method: "GET", Header: header}.build(t, t.Context(), l.url)
		response := l.open(t, r)
		_ = response.Body.Close()
		want := http.StatusBadRequest
		if id == "" {
			want = http.StatusOK
		}
		if response.StatusCode != want {
			t.Errorf("%q: status %d, want %d", id, response.StatusCode, want)
		}
	}
	if a := l.do(t, rawRequest{Body: request("1", "ping", `{}`), Header: inSession(session)}); a.Status != 200 {
		t.Errorf("the session does not go on: %s", a.Body)
	}
}

// Revisions before 2025-11-25 know no event without data.
func TestStreamOfAnOlderSessionHasNoIDs(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-06-18")
	l := p.listen(t)
	session := l.openSession(t)
	header := http.Header{"Mcp-Session-Id": {session}, "Mcp-Protocol-Version": {"2025-06-18"}, "Accept": {streamFirst}}
	s := l.stream(t, rawRequest{Body: slowWithProgress("0.1"), Header: header})
	s.steps(1, 10)
	s.answer("1")
	if s.last != "" || s.in.retry != "" {
		t.Errorf("event id %q, retry %q", s.last, s.in.retry)
	}
}
