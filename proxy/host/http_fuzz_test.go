package host

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// fuzzEdge is an edge with one session, that of somebody else.
type fuzzEdge struct {
	*HTTP
	session string
}

func newFuzzEdge(f *testing.F, stateless bool) fuzzEdge {
	f.Helper()
	edge := NewHTTP(HTTPOptions{
		Options: Options{Proxy: newQuickCore(f, stateless), Version: "test", Log: zerolog.Nop(), MessageBytes: 1 << 16},
		Owner:   func(r *http.Request) string { return r.URL.Query().Get("owner") },
	})
	f.Cleanup(func() { edge.Finish(f.Context()); edge.Close() })
	r := httptest.NewRequest(http.MethodPost, "/mcp?owner=alice", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`))
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"*/*"}}
	w := httptest.NewRecorder()
	edge.ServeHTTP(w, r)
	id := w.Header().Get(headerSession)
	if id == "" {
		f.Fatalf("no session: %d, %s", w.Code, w.Body)
	}
	return fuzzEdge{edge, id}
}

// FuzzHTTP: whatever a client sends, it gets a status and, if anything, a
// message; what names another's session does not reach it; and what goes on to
// the server has headers that say what the body says.
func FuzzHTTP(f *testing.F) {
	edges := map[bool]fuzzEdge{false: newFuzzEdge(f, false), true: newFuzzEdge(f, true)}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	f.Add(true, "POST", "", "2026-07-28", "tools/call", "run", "x", []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{"a":"x"},`+meta+`}}`))
	f.Add(false, "POST", "", "2026-07-28", "tools/call", "=?base64?cnVu?=", "=?base64?eA==?=", []byte(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"run","arguments":{"a":"x"},`+meta+`}}`))
	f.Add(true, "POST", "x", "2025-11-25", "", "", "", []byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`))
	f.Add(false, "DELETE", "AAAAAAAAAAAAAAAAAAAAAAAAAA", "", "", "", "", []byte{})
	f.Add(false, "POST", "", "", "", "", "", []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`))
	f.Add(true, "POST", "", "2026-07-28", "tasks/get", "y", "", []byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x",`+meta+`}}`))
	f.Add(false, "GET", "s/x", "2026-07-28\r\n", "a\x00b", "", "", []byte(`[{"jsonrpc":"2.0"}]`))
	f.Fuzz(func(t *testing.T, stateless bool, method, session, version, mcpMethod, name, param string, body []byte) {
		edge := edges[stateless]
		r := &http.Request{Method: method, Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}}
		for header, value := range map[string]string{headerSession: session, mirror.HeaderVersion: version, mirror.HeaderMethod: mcpMethod, mirror.HeaderName: name, "Mcp-Param-A": param} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		w := edge.answers(t, r, body)
		if session == edge.session {
			t.Fatal("guessed")
		}
		checkAnswer(t, r, body, w)
	})
}

// answers serves a request of another owner, who does not wait long.
func (e fuzzEdge) answers(t *testing.T, r *http.Request, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	full := httptest.NewRequest(http.MethodPost, "/mcp?owner=bob", bytes.NewReader(body)).WithContext(ctx)
	full.Method, full.Header = r.Method, r.Header
	w := httptest.NewRecorder()
	soon(t, "the edge", func() { e.ServeHTTP(w, full) })
	return w
}

func checkAnswer(t *testing.T, r *http.Request, body []byte, w *httptest.ResponseRecorder) {
	t.Helper()
	m, err := wire.Parse(body)
	text := w.Body.Bytes()
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(text) {
		t.Errorf("status %d, %q", w.Code, text)
	}
	if w.Code/100 != 2 {
		return
	}
	switch named := namesStateless(r); {
	case r.Method != http.MethodPost:
		t.Errorf("%s of a session that is not there: %d", r.Method, w.Code)
	case err != nil:
		t.Errorf("status %d for %q", w.Code, body)
	case m.IsRequest() && (named || opensStateless(m)):
		got, _ := mirror.Decode(r.Header.Get(mirror.HeaderName))
		name, known, present := mirror.Name(m)
		if r.Header.Get(mirror.HeaderMethod) != m.Method() || !named || known && present && got != name && !lenient[m.Method()] {
			t.Errorf("headers %q were taken for those of %s", r.Header, body)
		}
	case m.Method() != "initialize" && !named && !opensStateless(m):
		t.Errorf("%s without a session: %d", body, w.Code)
	}
}
