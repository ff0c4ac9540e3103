package host

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// edgeServer says whenever a connection is closed.
type edgeServer struct {
	*httptest.Server
	closed chan struct{}
}

// served is an edge at the end of a real HTTP server, before a real server
// process.
func served(t *testing.T, opts HTTPOptions) edgeServer {
	t.Helper()
	store := openStore(t, t.TempDir())
	core := proxy.New(proxy.Options{
		Tasks: proxy.NewTasks(store, zerolog.Nop()), Log: zerolog.Nop(), Policies: proxy.Policies{Default: proxy.Policy{Task: proxy.Never}},
		Upstream: upstream.Options{Command: upstream.Command{Args: []string{os.Args[0]}, Env: append(os.Environ(), childMode+"=1")}, Log: zerolog.Nop()},
	})
	opts.Options = Options{Proxy: core, Version: "test", Log: zerolog.Nop()}
	edge := NewHTTP(opts)
	server := edgeServer{httptest.NewUnstartedServer(edge), make(chan struct{}, 100)}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			server.closed <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		edge.Finish(ctx)
		server.Close()
		edge.Close()
		core.Close(ctx)
		_ = store.Close()
	})
	return server
}

func callBody(tool string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
}

func callHead(tool string) http.Header {
	return http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
	}
}

func post(t *testing.T, server edgeServer, tool string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(callBody(tool)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = callHead(tool)
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}
