package host

import (
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire/pipenet"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// quickServer is a real HTTP server on pipes that answers everything at once,
// in one era: thousands of edges a minute need neither ports nor processes.
type quickServer struct {
	stateless bool
	*pipenet.Listener
}

func (s *quickServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, _ := wire.Parse(body)
	w.Header().Set("Content-Type", "application/json")
	switch result := s.result(m.Method()); {
	case !m.IsRequest():
		w.WriteHeader(http.StatusAccepted)
	case result == "":
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(wire.Failure(m.ID(), wire.Errorf(wire.CodeMethodNotFound, "Method not found")).Raw())
	default:
		_, _ = w.Write(wire.Result(m.ID(), []byte(result)).Raw())
	}
}

func (s *quickServer) result(method string) string {
	switch {
	case method == "server/discover" && s.stateless:
		return `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
	case method == "initialize" && !s.stateless:
		return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	case method == "tools/list":
		return `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"run","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}`
	case method == "tools/call":
		return `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`
	}
	return ""
}

// newQuickCore is a core before a quickServer, for all runs of one fuzz target.
func newQuickCore(f *testing.F, stateless bool) *proxy.Proxy {
	s := &quickServer{stateless: stateless, Listener: pipenet.New()}
	web := &http.Server{Handler: s}
	go func() { _ = web.Serve(s) }() // ends with Close
	store := openStore(f, f.TempDir())
	core := proxy.New(proxy.Options{
		Tasks: proxy.NewTasks(store, zerolog.Nop()), Log: zerolog.Nop(), Upstream: upstream.Options{URL: "http://127.0.0.1/mcp", Dial: s.Dial, Log: zerolog.Nop()},
		Policies: proxy.Policies{
			Default: proxy.Policy{Task: proxy.After, After: time.Hour, TTL: time.Second},
			Tools:   []proxy.ToolPolicy{{Pattern: "task", Policy: proxy.Policy{Task: proxy.Always, TTL: time.Second}}, {Pattern: "never", Policy: proxy.Policy{Task: proxy.Never}}},
		},
	})
	f.Cleanup(func() {
		core.Close(f.Context())
		_ = web.Close()
		_ = store.Close()
	})
	return core
}

// soon fails where f hangs.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		stacks := make([]byte, 1<<20)
		t.Fatalf("%s hangs:\n%s", what, stacks[:runtime.Stack(stacks, true)])
	}
}
