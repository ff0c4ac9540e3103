package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// aloneFront has one process for all requests, which it renumbers.
type aloneFront struct {
	t     testing.TB
	start func() *lineChild
	mu    sync.Mutex
	child *lineChild
	n     int
}

func startAloneFront(t testing.TB, argv []string) string {
	f := &aloneFront{t: t, start: func() *lineChild { return startChild(t, argv, routeAlone) }}
	return startFront(t, f, func() []*lineChild {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.child == nil {
			return nil
		}
		return []*lineChild{f.child}
	}) + "/mcp"
}

// number gives a request the id by which the process knows it.
func (f *aloneFront) number() (c *lineChild, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.child == nil || f.child.dead() {
		f.child = f.start()
	}
	f.n++
	return f.child, f.n
}

func (f *aloneFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := parseMessage(string(body))
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case err != nil || m.Method == "":
		writeObject(w, http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}`)
		return
	case m.ID == nil:
		if m.Method == "notifications/cancelled" {
			f.t.Error("a cancel was posted, where the end of the stream says it")
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	f.checkStandard(r, m)
	c, n := f.number()
	s := newFrontStream(m)
	c.expect(strconv.Itoa(n), s)
	params := ""
	if m.Params != nil {
		params = `,"params":` + string(m.Params)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, n, m.Method, params))
	f.serve(w, r, c, n, s)
}

// serve tells the process of a client that closed the stream.
func (f *aloneFront) serve(w http.ResponseWriter, r *http.Request, c *lineChild, n int, s *frontStream) {
	if s.serve(w, r, n%2 == 0) {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n))
	}
}

// checkStandard wants the headers of a request; one that opens with initialize
// is of another era and has none.
func (f *aloneFront) checkStandard(r *http.Request, m message) {
	want := http.Header{}
	if setStandard(want, m); statelessVersion(m) == "" {
		return
	}
	for name := range want {
		if got := r.Header.Values(name); len(got) != 1 || got[0] != want.Get(name) {
			f.t.Errorf("%s is %q, want %q, for %s", name, got, want.Get(name), cut(m.Raw))
		}
	}
}

const subscriptionMember = `"io.modelcontextprotocol/subscriptionId":`

// routeAlone puts everything on the stream of the request that it belongs to,
// under the id that the client gave that.
func routeAlone(c *lineChild, m message) {
	subscription := string(at(m.Params, "_meta", "io.modelcontextprotocol/subscriptionId"))
	switch token := string(at(m.Params, "progressToken")); {
	case m.Method == "":
		c.answer(string(m.ID), c.renumbered(m, string(m.ID)))
	case m.Method == "notifications/cancelled":
		c.cut(string(at(m.Params, "requestId")))
	case subscription != "":
		c.find(c.is(subscription)).lines <- c.renumbered(m, subscription)
	case m.Method == "notifications/progress":
		c.find(func(s *frontStream) bool { return s.token == token }).lines <- m.Raw
	default:
		c.find(func(s *frontStream) bool { return s.logs }).lines <- m.Raw
	}
}

func (c *lineChild) is(id string) func(*frontStream) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[id]
	return func(other *frontStream) bool { return s == other }
}

// renumbered puts the client's id where the line has ours.
func (c *lineChild) renumbered(m message, id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[id]
	if s == nil {
		return m.Raw
	}
	line := strings.Replace(m.Raw, subscriptionMember+id, subscriptionMember+s.id, 1)
	if m.Method == "" {
		line = strings.Replace(line, `"id":`+id+`,`, `"id":`+s.id+`,`, 1)
	}
	return line
}

// cut ends a stream with no answer.
func (c *lineChild) cut(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.streams[id]; s != nil {
		s.close()
		delete(c.streams, id)
	}
}
