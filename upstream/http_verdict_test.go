package upstream

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// A call that a tool has answered, with whatever status, was made: to say that
// it can be repeated would have it made twice.
func TestAToolsOwnErrorIsNoLossOfTheSession(t *testing.T) {
	type refusal struct {
		status, code int
		text         string
	}
	always := []refusal{
		{500, -32603, "Charged the card; mail gateway not initialized"},
		{400, -32603, "Server not initialized"}, // under the request's id
		{400, -32000, "The payment session is invalid"},
		{503, -32000, "Charged the card; session expired"},
		{400, -32602, "Session ID is invalid"},
		{404, -32601, "Method not found"},
		{404, -32603, "No such customer; the session of the till is required"},
		{404, 1404, "No such customer"},
		{500, -32000, "Session not found"},
		{422, -32000, "session required"},
	}
	stateless := append(always, refusal{400, -32600, "Server not initialized"}, refusal{404, -32001, "Session not found"})
	for name, c := range map[string]struct {
		start    func(*testing.T, map[string]handler) *web
		refusals []refusal
	}{"initialize era": {legacy, always}, "stateless era": {modern, stateless}} {
		t.Run(name, func(t *testing.T) {
			server := c.start(t, map[string]handler{"tools/list": result("{}")})
			client := dial(t, server.URL, older)
			ask(t, client, "tools/list", `{}`)
			for i, r := range c.refusals {
				server.on("tools/call", failure(r.status, r.code, r.text))
				m, err := send(t, client, "tools/call", `{"name":"run"}`, nil).wait()
				if err != nil || !strings.Contains(string(m.Err()), r.text) {
					t.Errorf("%d, %d, %q became %s, %v", r.status, r.code, r.text, m.Raw(), err)
				}
				server.expect("tools/call", i+1)
			}
			greetings := len(server.visits("initialize")) + len(server.visits("server/discover"))
			ask(t, client, "tools/list", `{}`)
			if got := len(server.visits("initialize")) + len(server.visits("server/discover")); got != greetings || got > 2 {
				t.Errorf("the server was greeted %d times, then %d times", greetings, got)
			}
		})
	}
}

func TestAPageThatMentionsASessionIsNoLoss(t *testing.T) {
	for _, body := range []string{
		"Your request is invalid. Session cookies are required for the dashboard.", "<html><title>Session expired</title>",
		`{"error":"invalid arguments for session"}`,
	} {
		server := legacy(t, map[string]handler{"tools/list": result("{}"), "tools/call": plain(400, "text/plain", body)})
		client := dial(t, server.URL, older)
		send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_http", NotDispatched)
		ask(t, client, "tools/list", `{}`)
		server.expect("initialize", 1)
	}
}

// The words are those of servers in the field.
func TestAServerThatDoesNotKnowTheSessionIsUnderstood(t *testing.T) {
	for _, status := range []int{400, 503} {
		for _, text := range []string{
			"Server not initialized", "Bad Request: Server not initialized", "Bad Request: No valid session ID provided",
			"No valid session: server not initialized", "Session not found", "Session not found: 3f2a", "session 3f2a not found",
			"Session with ID 3f2a not found", "Session ID is required", "Session ID missing", "Invalid session ID", "Bad Request: Missing session ID",
			"Not Found: Invalid or expired session ID", "Unknown session", "Session expired", "Session has been terminated", "Session closed",
			"Not Found: Session has been terminated", "Bad Request: Mcp-Session-Id header is required", "Session ID required in mcp-session-id header",
		} {
			for form, body := range map[string]string{
				"text": text, "JSON": fmt.Sprintf(`{"error":%q}`, text), "a string": fmt.Sprintf("%q", text),
				"no id":    fmt.Sprintf(`{"jsonrpc":"2.0","error":{"code":-32000,"message":%q}}`, text),
				"our id":   fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":%q}}`, text),
				"other id": fmt.Sprintf(`{"jsonrpc":"2.0","id":"server-error","error":{"code":-32603,"message":%q}}`, text),
			} {
				if v := verdictOn(status, []byte("7"), []byte(body)); !v.sessionGone() {
					t.Errorf("%d as %s: %q is not understood", status, form, text)
				}
			}
		}
	}
}

func TestAModernServerThatIsReplacedByAnOlderOneIsUnderstood(t *testing.T) {
	for name, refusal := range map[string]handler{
		"no id":  answerJSON(400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`),
		"our id": failure(400, -32000, "Bad Request: Mcp-Session-Id header is required"),
		"other":  answerJSON(400, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			server := modern(t, nil)
			client := dial(t, server.URL, nil)
			ask(t, client, "tools/list", `{}`)
			replaceByOlder(server, refusal)
			err := send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_session_lost", NotDispatched)
			if !strings.Contains(err.Text, "HTTP 400") || !strings.Contains(err.Text, "ession") && !strings.Contains(err.Text, "not initialized") {
				t.Errorf("the text keeps the server's words to itself: %s", err.Text)
			}
			if got := ask(t, client, "tools/list", `{}`); got != `{"old":true}` {
				t.Errorf("the older server was asked for %s", got)
			}
		})
	}
}

// replaceByOlder makes a server of the stateless era one of the other, which
// refuses what comes without a session.
func replaceByOlder(server *web, refusal handler) {
	server.on("server/discover", refusal)
	server.on("initialize", func(w http.ResponseWriter, v visit) {
		w.Header().Set("Mcp-Session-Id", "s1")
		result(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}}}`)(w, v)
	})
	for name, then := range map[string]handler{"tools/list": result(`{"old":true}`), "tools/call": result(`{}`), "subscriptions/listen": refuse404} {
		server.on(name, func(w http.ResponseWriter, v visit) {
			if v.header("Mcp-Session-Id") == "" {
				refusal(w, v)
				return
			}
			then(w, v)
		})
	}
}

func TestANotificationThatIsNotKnownIsNoLoss(t *testing.T) {
	refused := answerJSON(404, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}`)
	server := legacy(t, map[string]handler{"tools/list": result("{}"), "notifications/x": refused})
	client := dial(t, server.URL, older)
	ask(t, client, "tools/list", `{}`)
	client.Notify(wire.Notification("notifications/x", nil))
	ask(t, client, "tools/list", `{}`) // behind it
	server.expect("initialize", 1)
	server.expect("notifications/x", 1)
}
