package upstream

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// web is a real HTTP server that plays an MCP server: what it does with a
// message is looked up by the message's method, else by that of HTTP.
type web struct {
	*httptest.Server
	t        *testing.T
	handlers map[string]handler

	mu   sync.Mutex
	seen []visit
}

type handler func(w http.ResponseWriter, v visit)

// visit is one HTTP request that the server got.
type visit struct {
	request *http.Request
	message wire.Message
	at      time.Time
}

// name is the message's method, or "answer", or else that of HTTP.
func (v visit) name() string {
	switch {
	case v.message.Method() != "":
		return v.message.Method()
	case v.message.IsResponse():
		return "answer"
	}
	return v.request.Method
}

func newWeb(t *testing.T, handlers map[string]handler) *web {
	s := &web{t: t, handlers: handlers}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	v := visit{request: r, at: time.Now()}
	v.message, _ = wire.Parse(body)
	s.mu.Lock()
	s.seen = append(s.seen, v)
	handle := s.handlers[v.name()]
	s.mu.Unlock()
	switch {
	case handle != nil:
		handle(w, v)
	case v.message.IsNotification(), v.message.IsResponse():
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPost:
		refuse404(w, v)
	default:
		http.Error(w, "no such method", http.StatusMethodNotAllowed)
	}
}

// on replaces a handler while the server runs.
func (s *web) on(name string, h handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[name] = h
}

// visits are those of that name so far.
func (s *web) visits(name string) (all []visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.seen {
		if v.name() == name {
			all = append(all, v)
		}
	}
	return all
}

func (s *web) expect(name string, want int) []visit {
	s.t.Helper()
	got := s.visits(name)
	if len(got) != want {
		s.t.Errorf("the server saw %s %d times, want %d", name, len(got), want)
	}
	return got
}

// await waits for the nth visit of that name.
func (s *web) await(name string, n int) visit {
	s.t.Helper()
	doing(s.t, fmt.Sprintf("visit %d of %s", n, name), func() {
		for len(s.visits(name)) < n {
			yieldABit()
		}
	})
	return s.visits(name)[n-1]
}

func (v visit) header(name string) string { return v.request.Header.Get(name) }

// answerJSON answers with a status and a body that is complete.
func answerJSON(status int, body string) handler {
	return func(w http.ResponseWriter, _ visit) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// result answers with a JSON-RPC result.
func result(result string) handler {
	return func(w http.ResponseWriter, v visit) {
		answerJSON(http.StatusOK, string(wire.Result(v.message.ID(), []byte(result)).Raw()))(w, v)
	}
}

func failure(status, code int, text string) handler {
	return func(w http.ResponseWriter, v visit) {
		answerJSON(status, string(wire.Failure(v.message.ID(), wire.Errorf(code, "%s", text)).Raw()))(w, v)
	}
}

func plain(status int, kind, body string) handler {
	return func(w http.ResponseWriter, _ visit) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func refuse404(w http.ResponseWriter, v visit) {
	failure(http.StatusNotFound, wire.CodeMethodNotFound, "Method not found")(w, v)
}

// sse sends events as they stand and then returns.
func sse(events ...string) handler {
	return func(w http.ResponseWriter, v visit) {
		out := openStream(w)
		for _, e := range events {
			out.send(strings.ReplaceAll(e, "$ID", string(v.message.ID())))
		}
	}
}

type stream struct{ w http.ResponseWriter }

func openStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	s := stream{w}
	s.send("")
	return s
}

func (s stream) send(text string) {
	_, _ = io.WriteString(s.w, text)
	s.w.(http.Flusher).Flush()
}

func (s stream) message(m wire.Message) { s.send("data: " + string(m.Raw()) + "\n\n") }

// modern is a server of the stateless era, with more handlers of its own.
func modern(t *testing.T, more map[string]handler) *web {
	handlers := map[string]handler{
		"server/discover": result(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`),
		"tools/list":      result(`{"resultType":"complete","tools":[{"name":"run","inputSchema":{"type":"object"}}]}`),
	}
	for name, h := range more {
		handlers[name] = h
	}
	return newWeb(t, handlers)
}

// legacy is a server of the initialize era whose session is called s1, then s2…
func legacy(t *testing.T, more map[string]handler) *web {
	sessions := 0
	handlers := map[string]handler{
		"server/discover": answerJSON(http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`),
		"DELETE":          func(w http.ResponseWriter, _ visit) { w.WriteHeader(http.StatusNoContent) },
	}
	var mu sync.Mutex
	handlers["initialize"] = func(w http.ResponseWriter, v visit) {
		mu.Lock()
		sessions++
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", sessions))
		mu.Unlock()
		result(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old"}}`)(w, v)
	}
	for name, h := range more {
		handlers[name] = h
	}
	return newWeb(t, handlers)
}

// dial makes a client of the server; change may set more options.
func dial(t *testing.T, url string, change func(*Options)) *Client {
	opts := Options{URL: url, Log: zerolog.New(zerolog.NewTestWriter(t)), Hello: Hello{Era: Stateless, Info: []byte(`{"name":"test"}`)}}
	if change != nil {
		change(&opts)
	}
	c := New(opts)
	t.Cleanup(func() { doing(t, "Close", func() { c.Close(t.Context()) }) })
	return c
}

// asking is a request whose answer is still to come.
type asking struct {
	t       *testing.T
	request *Request
	answer  chan answer
}

func send(t *testing.T, c *Client, method, params string, change func(*Request)) asking {
	a := asking{t, &Request{Message: wire.Request(0, method, []byte(params))}, make(chan answer, 2)}
	a.request.Reply = func(m wire.Message, err *Error) { a.answer <- answer{m, err} }
	if change != nil {
		change(a.request)
	}
	c.Send(a.request)
	return a
}

func (a asking) wait() (m wire.Message, err *Error) {
	a.t.Helper()
	doing(a.t, "the answer to "+a.request.Message.Method(), func() {
		got := <-a.answer
		m, err = got.message, got.err
	})
	return m, err
}

// result waits for a result.
func (a asking) result() string {
	a.t.Helper()
	m, err := a.wait()
	if err != nil {
		a.t.Fatalf("%s failed: %v", a.request.Message.Method(), err)
	}
	if m.Err() != nil {
		a.t.Fatalf("%s was refused: %s", a.request.Message.Method(), m.Err())
	}
	return string(m.Result())
}

func ask(t *testing.T, c *Client, method, params string) string {
	t.Helper()
	return send(t, c, method, params, nil).result()
}

// wantError waits for a failure with that reason and outcome.
func (a asking) wantError(reason string, outcome Outcome) *Error {
	a.t.Helper()
	m, err := a.wait()
	if err == nil {
		a.t.Fatalf("%s was answered %s, want %s", a.request.Message.Method(), m.Raw(), reason)
	}
	if err.Reason != reason || err.Outcome != outcome {
		a.t.Errorf("%s failed with %s, %s; want %s, %s. It says: %s", a.request.Message.Method(), err.Reason, err.Outcome, reason, outcome, err.Text)
	}
	return err
}
