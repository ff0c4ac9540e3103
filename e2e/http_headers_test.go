package e2e

import (
	"encoding/base64"
	"net/http"
	"testing"
)

func encoded(s string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

var (
	releaseCall = plain.toolCall("1", "release", `{}`)
	unknownTask = declared.request("1", "tasks/get", `{"taskId":"no-such-task"}`)
	readAccent  = plain.request("1", "resources/read", `{"uri":"mem://é"}`)
)

// headerCases are a message and what replaces its headers.
var headerCases = []struct {
	name, body string
	header     http.Header
	status     int
	code       int
}{
	{"all as they must be", releaseCall, nil, 200, 0},
	{"names in lower case", releaseCall, http.Header{"Mcp-Name": nil, "mcp-name": {"release"}}, 200, 0},
	{"no version", releaseCall, http.Header{"Mcp-Protocol-Version": nil}, 400, -32020},
	{"version twice", releaseCall, http.Header{"Mcp-Protocol-Version": {"2026-07-28", "2026-07-28"}}, 400, -32020},
	{"version of a session", releaseCall, http.Header{"Mcp-Protocol-Version": {"2025-11-25"}}, 400, -32020},
	{"version of nobody in the header", releaseCall, http.Header{"Mcp-Protocol-Version": {"2099-01-01"}}, 400, -32020},
	{"version with a space behind it", releaseCall, http.Header{"Mcp-Protocol-Version": {"2026-07-28 "}}, 200, 0},
	{"no method", releaseCall, http.Header{"Mcp-Method": nil}, 400, -32020},
	{"method twice", releaseCall, http.Header{"Mcp-Method": {"tools/call", "tools/call"}}, 400, -32020},
	{"another method", releaseCall, http.Header{"Mcp-Method": {"tools/list"}}, 400, -32020},
	{"method in other case", releaseCall, http.Header{"Mcp-Method": {"Tools/Call"}}, 400, -32020},
	{"two methods on one line", releaseCall, http.Header{"Mcp-Method": {"tools/call, tools/list"}}, 400, -32020},
	{"no name", releaseCall, http.Header{"Mcp-Name": nil}, 400, -32020},
	{"name twice", releaseCall, http.Header{"Mcp-Name": {"release", "crash"}}, 400, -32020},
	{"another name", releaseCall, http.Header{"Mcp-Name": {"crash"}}, 400, -32020},
	{"name in other case", releaseCall, http.Header{"Mcp-Name": {"Release"}}, 400, -32020},
	{"empty name", releaseCall, http.Header{"Mcp-Name": {""}}, 400, -32020},
	{"encoded name", releaseCall, http.Header{"Mcp-Name": {encoded("release")}}, 200, 0},
	{"encoded name of another", releaseCall, http.Header{"Mcp-Name": {encoded("crash")}}, 400, -32020},
	{"encoded name with a line end", releaseCall, http.Header{"Mcp-Name": {encoded("release\r\nMcp-Name: crash")}}, 400, -32020},
	{"name that is encoded badly", releaseCall, http.Header{"Mcp-Name": {"=?base64?cmVsZWFzZQ?="}}, 400, -32020},
	{"name that is encoded in another case", releaseCall, http.Header{"Mcp-Name": {"=?BASE64?cmVsZWFzZQ==?="}}, 400, -32020},
	{"name that decodes to no text", releaseCall, http.Header{"Mcp-Name": {encoded("\xff\xfe")}}, 400, -32020},
	{"name that looks encoded", plain.toolCall("1", "=?base64?x?=", `{}`), nil, 400, -32602},
	{"address with an accent, encoded", readAccent, nil, 200, 0},
	{"address with an accent, bare", readAccent, http.Header{"Mcp-Name": {"mem://é"}}, 400, -32020},
	{"task without a name", unknownTask, http.Header{"Mcp-Name": nil}, 400, -32602},
	{"task with the name of another", unknownTask, http.Header{"Mcp-Name": {"another"}}, 400, -32020},
	{"removed method", plain.request("1", "ping", `{}`), nil, 404, -32601},
	{"revision that nobody knows", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, nil, 400, -32022},
	{"revision that needs a session", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2025-06-18","io.modelcontextprotocol/clientCapabilities":{}}}}`, nil, 400, -32022},
	{"wrong header before an unknown method", plain.request("1", "initialize", `{}`), http.Header{"Mcp-Method": {"ping"}}, 400, -32020},
}

// What the headers say must be what the body says, once (2026-07-28, Streamable
// HTTP, Server Validation).
func TestHeadersThatDisagreeWithTheBody(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "modern")
	l := p.listen(t)
	served := 0
	for _, c := range headerCases {
		a := l.do(t, rawRequest{Body: c.body, Header: c.header})
		if a.Status != c.status || a.code() != c.code || string(a.ID) != "1" {
			t.Errorf("%s: status %d, want %d with code %d: %s", c.name, a.Status, c.status, c.code, a.Body)
		}
		if c.status == 200 && c.body == releaseCall {
			served++
		}
	}
	if n := seen.count("call release"); n != served {
		t.Errorf("the tool was called %d times, and %d calls were in order", n, served)
	}
	if n := seen.count("call crash"); n != 0 {
		t.Error("a header decided which tool was called")
	}
}

// A method that the server does not know is a 404 also where it is the server
// that says so (Protocol Version Header).
func TestMethodsThatDoNotExist(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"legacy", "modern"} {
		p, _ := proxyAround(t, server)
		l := p.listen(t)
		for _, method := range []string{
			"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
			"tasks/list", "tasks/result", "vendor/none",
		} {
			l.do(t, rawRequest{Body: declared.request("1", method, `{}`)}).refusedWith(t, http.StatusNotFound, -32601)
		}
		l.do(t, rawRequest{Body: plain.request("1", "tasks/get", `{"taskId":"x"}`)}).refusedWith(t, http.StatusBadRequest, -32021)
	}
}
