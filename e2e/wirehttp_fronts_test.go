package e2e

import (
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// sessionFront has a process for each session, or a part in one for all.
type sessionFront struct {
	t     testing.TB
	start func() *lineChild
	mu    sync.Mutex
	open  map[string]*lineChild
	n     int // requests so far
}

// startFront serves the handler until the end of the test and stops its
// children then.
func startFront(t testing.TB, handler http.Handler, children func() []*lineChild) string {
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		for _, c := range children() {
			c.stop()
		}
		server.Close()
	})
	return server.URL
}

func startSessionFront(t testing.TB, argv []string) string {
	f := &sessionFront{t: t, start: func() *lineChild { return startChild(t, argv, routeInSession) }, open: map[string]*lineChild{}}
	return startFront(t, f, f.children) + "/mcp"
}

func (f *sessionFront) children() []*lineChild {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.open))
}

func (f *sessionFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, _ := parseMessage(string(body))
	c, id := f.session(w, r, m)
	if c == nil {
		return
	}
	switch {
	case r.Method == http.MethodDelete:
		f.mu.Lock()
		delete(f.open, id)
		f.mu.Unlock()
		c.stop()
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		c.news.serve(w, r, true)
	case m.Method == "" || m.ID == nil:
		c.send(m.Raw)
		w.WriteHeader(http.StatusAccepted)
	default:
		f.request(w, r, c, m)
	}
}

// session finds the process that a request is for, or answers it.
func (f *sessionFront) session(w http.ResponseWriter, r *http.Request, m message) (*lineChild, string) {
	id := r.Header.Get("Mcp-Session-Id")
	if f.checkAccept(r); m.Method == "initialize" && id == "" {
		id = rand.Text()
		w.Header().Set("Mcp-Session-Id", id)
		c := f.start()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.open[id] = c
		return c, id
	}
	f.mu.Lock()
	c := f.open[id]
	if c != nil && c.dead() {
		c = nil
	}
	f.mu.Unlock()
	switch {
	case id == "":
		writeObject(w, http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`)
	case c == nil:
		writeObject(w, http.StatusNotFound, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`)
	case r.Header.Get("MCP-Protocol-Version") == "":
		f.t.Errorf("%s %s: no MCP-Protocol-Version in a session", r.Method, cut(m.Raw))
	}
	return c, id
}

func (f *sessionFront) checkAccept(r *http.Request) {
	accept := r.Header.Get("Accept")
	if r.Method != http.MethodDelete && !strings.Contains(accept, "text/event-stream") ||
		r.Method == http.MethodPost && (!strings.Contains(accept, "application/json") || r.Header.Get("Content-Type") != "application/json") {
		f.t.Errorf("%s with Accept %q and Content-Type %q", r.Method, accept, r.Header.Get("Content-Type"))
	}
}

func (f *sessionFront) request(w http.ResponseWriter, r *http.Request, c *lineChild, m message) {
	f.mu.Lock()
	f.n++
	streamed := f.n%2 == 0
	f.mu.Unlock()
	s := newFrontStream(m)
	c.expect(string(m.ID), s)
	c.send(m.Raw)
	s.serve(w, r, streamed)
}

// routeInSession puts what belongs to a request on its stream: what belongs to a
// task, on one that waits for its result. A question that names its request by a
// progress token is put where nothing else tells.
func routeInSession(c *lineChild, m message) {
	task := string(at(m.Params, "_meta", relatedTask, "taskId"))
	switch token := string(at(m.Params, "progressToken")); {
	case task != "" && m.Method != "":
		c.find(func(s *frontStream) bool { return s.task == task }).lines <- m.Raw
	case m.ID != nil && m.Method != "" && at(m.Params, "_meta", "progressToken") != nil:
		c.news.lines <- m.Raw
	case m.Method == "":
		c.answer(string(m.ID), m.Raw)
	case m.Method == "notifications/progress":
		c.find(func(s *frontStream) bool { return s.token == token }).lines <- m.Raw
	case m.ID != nil:
		c.find(func(s *frontStream) bool { return s.asks }).lines <- m.Raw
	case m.Method == "notifications/message":
		c.find(func(*frontStream) bool { return true }).lines <- m.Raw
	default:
		c.news.lines <- m.Raw
	}
}

// sseFront has a process for each stream of events.
type sseFront struct {
	t    testing.TB
	argv []string
	mu   sync.Mutex
	open map[string]*lineChild
}

func startSSEFront(t testing.TB, argv []string) string {
	f := &sseFront{t: t, argv: argv, open: map[string]*lineChild{}}
	return startFront(t, f, func() []*lineChild {
		f.mu.Lock()
		defer f.mu.Unlock()
		return slices.Collect(maps.Values(f.open))
	}) + "/sse"
}

func (f *sseFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("session")
	f.mu.Lock()
	c := f.open[id]
	f.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/sse":
		f.stream(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/messages" && c != nil:
		body, _ := io.ReadAll(r.Body)
		c.send(string(body))
		w.WriteHeader(http.StatusAccepted)
	default:
		http.Error(w, "Cannot "+r.Method+" "+r.URL.Path, http.StatusNotFound)
	}
}

func (f *sseFront) stream(w http.ResponseWriter, r *http.Request) {
	id := rand.Text()
	c := startChild(f.t, f.argv, func(c *lineChild, m message) { c.news.lines <- m.Raw })
	f.mu.Lock()
	f.open[id] = c
	f.mu.Unlock()
	writeEvent(w, "endpoint", fmt.Sprintf("/messages?session=%s", id))
	_ = http.NewResponseController(w).Flush()
	c.news.serve(w, r, true)
	f.mu.Lock()
	delete(f.open, id)
	f.mu.Unlock()
	c.stop()
}
