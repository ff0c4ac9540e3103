package e2e

import (
	"fmt"
	"net/http"
	"testing"
)

// An upstream that is restarted between two calls has forgotten the session, and
// connections that were kept for it are dead: at worst one call is refused, as
// one that was not sent, and no call is made twice.
func TestServerRestartsBetweenCalls(t *testing.T) {
	t.Parallel()
	for _, y := range ways {
		t.Run("modern server, "+y.name, func(t *testing.T) { t.Parallel(); restartServer(t, y, startModernAt, false) })
		t.Run("legacy server, "+y.name, func(t *testing.T) { t.Parallel(); restartServer(t, y, startLegacyAt, true) })
	}
}

// apart is where no connection of this machine begins: on 127.0.0.1 one may
// take the port while its server is away.
const apart = "127.0.0.2:0"

func restartServer(t *testing.T, y way, start func(testing.TB, string, map[string]act) *scripted, sessions bool) {
	first := start(t, apart, nil)
	h := y.start(t, proxyTo(t, first))
	h.ask(y.call("1", "run", `{}`))
	first.stop()
	second := start(t, first.address(), nil)
	m := h.ask(y.call("2", "run", `{}`))
	if why, outcome := reason(m.Error); m.Error != nil && (!sessions || outcome != "not_dispatched") {
		t.Errorf("behind the restart: reason %q, outcome %q: %s", why, outcome, m.Raw)
	}
	if m := h.ask(y.call("3", "work", `{}`)); m.Error != nil {
		t.Errorf("the next call was not served: %s", m.Raw)
	}
	second.want(t, "tools/call run", 1)
	second.want(t, "tools/call work", 1)
}

// 404 to GET says that there is no stream for news, not that there is no
// session; nor does 404 with an error about the request.
func TestNotFoundIsNoLostSession(t *testing.T) {
	t.Parallel()
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := startLegacy(t, map[string]act{
				"GET":             saying(http.StatusNotFound, "text/html", "<h1>Cannot GET /mcp</h1>"),
				"tools/call gone": refusing(http.StatusNotFound, -32602, "Unknown tool: gone"),
			})
			h := y.start(t, proxyTo(t, s))
			h.ask(y.call("1", "run", `{}`))
			h.await("the server to be asked for a stream", func() bool { return len(s.visits("GET")) > 0 })
			if m := h.ask(y.call("2", "gone", `{}`)); m.code() != -32602 {
				t.Errorf("the server's own error became %s", m.Raw)
			}
			for i := range 3 {
				if m := h.ask(y.call(fmt.Sprint(10+i), "run", `{}`)); m.Error != nil {
					t.Errorf("a call failed: %s", m.Raw)
				}
			}
			s.want(t, "initialize", 1)
			s.want(t, "GET", 1)
		})
	}
}

// A server without sessions, as SDKs have it in their stateless mode, behind
// something that knows no GET.
func TestServerWithoutSessions(t *testing.T) {
	t.Parallel()
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := startLegacy(t, map[string]act{
				"initialize": answering(legacyWelcome), "GET": saying(http.StatusNotFound, "text/html", "<h1>404</h1>"),
			})
			s.mu.Lock()
			s.sessions = nil
			s.mu.Unlock()
			h := y.start(t, proxyTo(t, s))
			for i := range 3 {
				if m := h.ask(y.call(fmt.Sprint(i), "run", `{}`)); m.Error != nil {
					t.Errorf("a call failed: %s", m.Raw)
				}
			}
			s.want(t, "initialize", 1)
			for _, v := range s.want(t, "tools/call", 3) {
				if v.header("Mcp-Session-Id") != "" || v.header("Mcp-Protocol-Version") != "2025-11-25" {
					t.Errorf("a call came with %v", v.Header)
				}
			}
		})
	}
}
