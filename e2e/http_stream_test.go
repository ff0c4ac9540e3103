package e2e

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

// rawStream is a response that is read event by event.
type rawStream struct {
	t testing.TB
	*http.Response
	in    *eventReader
	close context.CancelFunc // of the connection
	last  string             // id of the last event
}

// stream insists on a response that is a stream.
func (l *listening) stream(t testing.TB, r rawRequest) *rawStream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	response := l.open(t, r.build(t, ctx, l.url))
	t.Cleanup(func() { cancel(); _ = response.Body.Close() })
	if !isStream(response) {
		body, _ := io.ReadAll(response.Body)
		t.Fatalf("no stream: status %d, %s", response.StatusCode, cut(string(body)))
	}
	return &rawStream{t: t, Response: response, in: newEventReader(response.Body), close: cancel}
}

// next is the next message; ok is false at the end of the stream.
func (s *rawStream) next() (m message, ok bool) {
	s.t.Helper()
	for {
		e, err := s.in.next()
		if err == io.EOF {
			return message{}, false
		}
		if err != nil {
			s.t.Fatalf("reading the stream: %v", err)
		}
		if e.id != "" {
			s.last = e.id
		}
		if e.data == "" {
			continue
		}
		m, err := parseMessage(e.data)
		if err != nil {
			s.t.Fatalf("no message: %v: %s", err, cut(e.data))
		}
		return m, true
	}
}

// want is the next message, which must have this method.
func (s *rawStream) want(method string) message {
	s.t.Helper()
	m, ok := s.next()
	if !ok || m.Method != method {
		s.t.Fatalf("want %s, got %s, %v", method, cut(m.Raw), ok)
	}
	return m
}

// answer passes over what comes before the answer, and insists that it is the
// last.
func (s *rawStream) answer(id string) message {
	s.t.Helper()
	for {
		m, ok := s.next()
		switch {
		case !ok:
			s.t.Fatalf("the stream ended without an answer to %s", id)
		case m.Method == "" && string(m.ID) == id:
			if more, ok := s.next(); ok {
				s.t.Errorf("behind the answer came %s", cut(more.Raw))
			}
			return m
		}
	}
}

// ends insists that the stream ends properly, with nothing more on it.
func (s *rawStream) ends() {
	s.t.Helper()
	if m, ok := s.next(); ok {
		s.t.Errorf("want the end of the stream, got %s", cut(m.Raw))
	}
}

// watched makes a request a stream at once.
var watched = http.Header{"Accept": {streamFirst}}

const listenTools = `{"notifications":{"toolsListChanged":true}}`

func TestStreamSaysThatItIsOne(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "modern")
	l := p.listen(t)
	s := l.stream(t, rawRequest{Body: plain.request("7", "subscriptions/listen", listenTools)})
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "X-Accel-Buffering": "no",
		"Cache-Control": "no-cache, no-transform", "Content-Length": "", "Mcp-Session-Id": "",
	} {
		if got := s.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	s.want("notifications/subscriptions/acknowledged")
}

// In the stateless era the end of the stream is the cancel; a task is none of
// its business (2026-07-28, Streamable HTTP, Cancellation).
func TestClosedStreamCancelsTheCallAndNoTask(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = "after: 1h\ntools: {slow: {task: always}}\n"
	l := p.listen(t)
	for i, accept := range []string{streamFirst, objectFirst} {
		ctx, cancel := context.WithCancel(t.Context())
		r := rawRequest{Body: plain.toolCall("1", "gate", `{"gate":"shut"}`), Header: http.Header{"Accept": {accept}}}.build(t, ctx, l.url)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if response, err := ownConnection(t).Do(r); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		}()
		l.await("the call to reach the server", func() bool { return seen.count("call gate") == i+1 })
		closed := time.Now()
		cancel()
		<-gone
		l.await("the server to hear that the call is cancelled", func() bool { return seen.count("cancelled gate") == i+1 })
		if took := time.Since(closed); took > 2*time.Second {
			t.Errorf("Accept: %s: the server heard of the cancel after %v", accept, took)
		}
	}
	s := l.stream(t, rawRequest{Body: declared.toolCall("2", "slow", `{"seconds":0.3}`), Header: watched})
	id := taskOf(t, s.answer("2"))
	s.close()
	finishTask(l.join(), id, "completed")
	if n := seen.count("cancelled slow"); n != 0 {
		t.Error("the end of its stream cancelled a task")
	}
}

// In a session the end of a stream is no cancel (2025-11-25, Transports,
// Sending Messages to the Server).
func TestClosedStreamCancelsNothingInASession(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	header := inSession(l.openSession(t))
	header["Accept"] = []string{streamFirst}
	s := l.stream(t, rawRequest{Body: toolCall("1", "gate", `{"gate":"a"}`), Header: header})
	l.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	s.close()
	l.do(t, rawRequest{Body: toolCall("2", "release", `{"gate":"a"}`), Header: header})
	if n := seen.count("cancelled gate"); n != 0 {
		t.Error("the end of its stream cancelled the call")
	}
}

// Who listens is told when the proxy ends, by a result (2026-07-28,
// Subscriptions, Graceful Closure); streams of sessions just end.
func TestStreamsEndProperlyOnSIGTERM(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	listen := l.stream(t, rawRequest{Body: plain.request(`"seven"`, "subscriptions/listen", listenTools)})
	listen.want("notifications/subscriptions/acknowledged")
	header := inSession(l.openSession(t))
	header["Accept"] = []string{"text/event-stream"}
	get := l.stream(t, rawRequest{Method: "GET", Header: header})
	if status := l.join().stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	m := listen.answer(`"seven"`)
	if id := string(at(m.Result, "_meta", "io.modelcontextprotocol/subscriptionId")); m.text("resultType") != "complete" || id != `"seven"` {
		t.Errorf("the subscription ended with %s", m.Raw)
	}
	get.ends()
}
