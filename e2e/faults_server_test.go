package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// scripted is an MCP server over HTTP in the test's own process that does what
// its test says. What it does with a message is looked up under the method and
// the tool ("tools/call crash"), the method, or the method of HTTP.
type scripted struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	acts     map[string]act
	seen     []visit
	sessions map[string]bool // that were opened and not forgotten; nil for none
	opened   int
}

type act func(w http.ResponseWriter, v visit)

// visit is one HTTP request that the server got.
type visit struct {
	*http.Request
	message
}

// names are those under which a visit is looked up and counted.
func (v visit) names() []string {
	if v.message.Method == "" {
		return []string{v.Request.Method}
	}
	return []string{v.message.Method + " " + v.tool(), v.message.Method, v.Request.Method}
}

// taskPrefix stands before the name of a tool that is always a task.
const taskPrefix = "task_"

// tool is the name of the called tool, without taskPrefix.
func (v visit) tool() string {
	var name string
	_ = json.Unmarshal(at(v.Params, "name"), &name)
	return strings.TrimPrefix(name, taskPrefix)
}

func (v visit) header(name string) string { return v.Request.Header.Get(name) }

// startScripted serves until the end of the test, on an address of its own if
// none is given.
func startScripted(t testing.TB, address string, acts map[string]act) *scripted {
	t.Helper()
	s := &scripted{t: t, acts: acts}
	s.Server = httptest.NewUnstartedServer(s)
	if address != "" {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Listener.Close()
		s.Listener = listener
	}
	s.Start()
	t.Cleanup(s.stop)
	return s
}

// stop is the end of the server's process, as far as others can see.
func (s *scripted) stop() {
	s.CloseClientConnections()
	s.Close()
}

func (s *scripted) address() string { return s.Listener.Addr().String() }

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	v := visit{Request: r}
	v.message, _ = parseMessage(string(body))
	s.mu.Lock()
	s.seen = append(s.seen, v)
	do := s.find(v)
	s.mu.Unlock()
	do(w, v)
}

// find is called with s.mu held.
func (s *scripted) find(v visit) act {
	lost := s.sessions != nil && v.message.Method != "initialize" && !s.sessions[v.header("Mcp-Session-Id")]
	for _, name := range v.names() {
		if do := s.acts[name]; do != nil && (!lost || name == "server/discover") {
			return do
		}
	}
	switch {
	case lost:
		return refusing(http.StatusNotFound, -32001, "Session not found")
	case v.message.Method != "" && v.ID == nil:
		return func(w http.ResponseWriter, _ visit) { w.WriteHeader(http.StatusAccepted) }
	case v.message.Method != "":
		return refusing(http.StatusNotFound, -32601, "Method not found")
	}
	return saying(http.StatusMethodNotAllowed, "text/plain", "no such method")
}

// on replaces what the server does while it runs.
func (s *scripted) on(name string, do act) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts[name] = do
}

// forget loses all sessions, as a restart would.
func (s *scripted) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = map[string]bool{}
}

// visits are those under a name so far; "" stands for all.
func (s *scripted) visits(name string) (all []visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.seen {
		for _, n := range v.names() {
			if n == name || name == "" {
				all = append(all, v)
				break
			}
		}
	}
	return all
}

// want insists on how often the server saw something, and returns it.
func (s *scripted) want(t testing.TB, name string, n int) []visit {
	t.Helper()
	all := s.visits(name)
	if len(all) != n {
		t.Errorf("the server saw %q %d times, want %d", name, len(all), n)
	}
	return all
}

// answering gives a result.
func answering(result string) act {
	return func(w http.ResponseWriter, v visit) { writeObject(w, http.StatusOK, v.answer(result)) }
}

func (v visit) answer(result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, v.ID, result)
}

// refusing gives a JSON-RPC error.
func refusing(status, code int, text string) act {
	return func(w http.ResponseWriter, v visit) {
		id := "null"
		if v.ID != nil {
			id = string(v.ID)
		}
		writeObject(w, status, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, text))
	}
}

// saying gives what is no message.
func saying(status int, kind, body string) act {
	return func(w http.ResponseWriter, _ visit) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hanging answers nothing until its client has gone.
func hanging(_ http.ResponseWriter, v visit) { <-v.Context().Done() }
