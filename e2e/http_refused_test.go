package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// bodyCases are requests that no client of ours makes.
var bodyCases = []struct {
	name   string
	r      rawRequest
	status int
	code   int
}{
	{"nothing", rawRequest{}, 400, -32700},
	{"no JSON", rawRequest{Body: `{"jsonrpc":"2.0",`}, 400, -32700},
	{"JSON twice", rawRequest{Body: releaseCall + releaseCall}, 400, -32700},
	{"no message", rawRequest{Body: `{"hello":1}`}, 400, -32600},
	{"another version of JSON-RPC", rawRequest{Body: `{"jsonrpc":"1.0","id":1,"method":"ping"}`}, 400, -32600},
	{"a batch", rawRequest{Body: `[` + releaseCall + `]`}, 400, -32600},
	{"an empty batch", rawRequest{Body: `[]`}, 400, -32600},
	{"a response where nothing is asked", rawRequest{Body: `{"jsonrpc":"2.0","id":1,"result":{}}`,
		Header: http.Header{"Mcp-Protocol-Version": {"2026-07-28"}}}, 400, -32600},
	{"a form", rawRequest{Body: releaseCall, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}, 415, -32600},
	{"plain text, which a page may send", rawRequest{Body: releaseCall, Header: http.Header{"Content-Type": {"text/plain"}}}, 415, -32600},
	{"no type", rawRequest{Body: releaseCall, Header: http.Header{"Content-Type": nil}}, 415, -32600},
	{"a type with a charset", rawRequest{Body: releaseCall, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}}, 200, 0},
	{"a type in capitals", rawRequest{Body: releaseCall, Header: http.Header{"Content-Type": {"Application/JSON"}}}, 200, 0},
	{"no Accept", rawRequest{Body: releaseCall, Header: http.Header{"Accept": nil}}, 406, -32600},
	{"JSON alone", rawRequest{Body: releaseCall, Header: http.Header{"Accept": {"application/json"}}}, 406, -32600},
	{"streams alone", rawRequest{Body: releaseCall, Header: http.Header{"Accept": {"text/event-stream"}}}, 406, -32600},
	{"anything", rawRequest{Body: releaseCall, Header: http.Header{"Accept": {"*/*"}}}, 200, 0},
	{"both on two lines", rawRequest{Body: releaseCall, Header: http.Header{"Accept": {"application/json;q=0.9", "text/event-stream;q=0.1"}}}, 200, 0},
	{"PUT", rawRequest{Method: "PUT", Body: releaseCall}, 405, 0},
	{"GET without a session", rawRequest{Method: "GET", Header: http.Header{"Accept": {"text/event-stream"}}}, 400, -32600},
	{"DELETE without a session", rawRequest{Method: "DELETE"}, 400, -32600},
	{"GET of the stateless era", rawRequest{Method: "GET", Header: http.Header{"Mcp-Protocol-Version": {"2026-07-28"}}}, 405, 0},
	{"DELETE of the stateless era", rawRequest{Method: "DELETE", Header: http.Header{"Mcp-Protocol-Version": {"2026-07-28"}}}, 405, 0},
	{"another path", rawRequest{Path: "/other", Body: releaseCall}, 404, 0},
	{"a path below", rawRequest{Path: "/mcp/x", Body: releaseCall}, 404, 0},
	{"a request in a session without its id", rawRequest{Body: request("1", "ping", `{}`)}, 400, -32600},
	{"a request in no session", rawRequest{Body: request("1", "ping", `{}`), Header: inSession("NOSUCHSESSION")}, 404, 0},
	{"a notification in no session", rawRequest{Body: `{"jsonrpc":"2.0","method":"x"}`, Header: inSession("NOSUCHSESSION")}, 404, 0},
	{"an empty session", rawRequest{Body: request("1", "ping", `{}`), Header: inSession("")}, 404, 0},
	{"a session that is a path", rawRequest{Body: request("1", "ping", `{}`), Header: inSession("../../etc/passwd")}, 404, 0},
	{"a session in no revision", rawRequest{Body: request("1", "ping", `{}`),
		Header: http.Header{"Mcp-Session-Id": {"X"}, "Mcp-Protocol-Version": {"1999-01-01"}}}, 400, -32600},
	{"two sessions", rawRequest{Body: request("1", "ping", `{}`), Header: http.Header{"Mcp-Session-Id": {"A", "B"}}}, 400, -32600},
	{"a notification that stands alone", rawRequest{Body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{` + metaPlain + `}}}`}, 202, 0},
}

func TestRequestsThatNoClientMakes(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "modern")
	l := p.listen(t)
	served := 0
	for _, c := range bodyCases {
		a := l.do(t, c.r)
		if a.Status != c.status || a.code() != c.code && c.code != 0 {
			t.Errorf("%s: status %d, want %d with code %d: %s", c.name, a.Status, c.status, c.code, a.Body)
		}
		switch {
		case c.status == 200:
			served++
		case c.status == 405 && a.Header.Get("Allow") == "":
			t.Errorf("%s: what is allowed is not said", c.name)
		}
	}
	if n := seen.count("call release"); n != served {
		t.Errorf("the tool was called %d times, and %d calls were in order", n, served)
	}
}

// Lengths are checked as bytes come in: what is declared, and what is not.
func TestBodyOverTheLimit(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "modern")
	p.Config = smallLimit
	l := p.listen(t)
	fits := lineOf(t, 1<<20, func(arguments string) string { return plain.toolCall("1", "release", arguments) })
	if a := l.do(t, rawRequest{Body: fits}); a.Status != 200 {
		t.Errorf("a body of exactly the limit: status %d, %s", a.Status, cut(a.Body))
	}
	tooLong := lineOf(t, 1<<20+1, func(arguments string) string { return plain.toolCall("1", "release", arguments) })
	checkTooLarge(t, l.do(t, rawRequest{Body: tooLong}))
	r := rawRequest{Body: tooLong}.build(t, t.Context(), l.url)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat(" ", 2<<20))), -1
	response := l.open(t, r)
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	a := rawAnswer{Status: response.StatusCode, Body: string(body)}
	a.message, _ = parseMessage(a.Body)
	checkTooLarge(t, a)
	if n := seen.count("call release"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

func checkTooLarge(t *testing.T, a rawAnswer) {
	t.Helper()
	why, outcome := reason(a.Error)
	if a.Status != http.StatusRequestEntityTooLarge || why != "too_large" || outcome != "not_dispatched" {
		t.Errorf("status %d, reason %q, outcome %q: %s", a.Status, why, outcome, cut(a.Body))
	}
	if !strings.Contains(a.Body, "1048576") {
		t.Errorf("the limit is not named: %s", cut(a.Body))
	}
}
