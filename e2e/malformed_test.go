package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// An answer that is no JSON-RPC is all that the server will ever say on the
// call: it ends it, and the server stays in use.
func TestMalformedAnswerEndsTheCall(t *testing.T) {
	t.Parallel()
	for i, line := range []string{
		`{"jsonrpc":"2.0","id":$ID,"result":{},"error":{"code":1,"message":"x"}}`,
		`{"id":$ID,"result":{}}`,
		`{"jsonrpc":"2.0","id":"$ID","result":{}}`,
		`{"jsonrpc":"2.0","id":$ID.0,"result":{}}`,
		`{"jsonrpc":"2.0","id":$ID,"result":null,"error":null}`,
	} {
		p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
		h := p.start(t)
		h.initialize("2025-11-25")
		args, err := json.Marshal(map[string]string{"line": line})
		if err != nil {
			t.Fatal(err)
		}
		m := h.ask(toolCall(fmt.Sprint(i), "say", string(args)))
		if m.code() != -32603 || !strings.Contains(string(at(m.Error, "data")), `"upstream_invalid"`) {
			t.Errorf("%s was answered with %s", line, m.Raw)
		}
		if m := h.ask(toolCall(`"after"`, "release", `{}`)); m.Error != nil {
			t.Errorf("the call after %s: %s", line, m.Raw)
		}
	}
}

// A line of a log that happens to have an id is no answer.
func TestLogLineWithAnIdEndsNoCall(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	h := p.start(t)
	h.initialize("2025-11-25")
	h.send(toolCall("1", "gate", `{"gate":"g"}`))
	for id := range 9 { // one of them is that of the call
		h.send(toolCall(fmt.Sprintf(`"say %d"`, id), "say", fmt.Sprintf(`{"line":"{\"level\":30,\"id\":%d,\"error\":\"x\"}"}`, id)))
	}
	h.ask(toolCall(`"open"`, "release", `{"gate":"g"}`))
	if m := h.response("1"); m.Error != nil {
		t.Errorf("the call was ended: %s", m.Raw)
	}
}

// What a server sends right behind its answer to initialize stays behind it.
func TestNothingOvertakesTheAnswerToInitialize(t *testing.T) {
	t.Parallel()
	for range 10 {
		p, _ := proxyAround(t, "legacy", "-version", "2025-11-25", "-eager", "5")
		h := p.start(t)
		h.send(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`)
		if first := h.next(); string(first.ID) != `"open"` {
			t.Errorf("before the answer came %s", first.Raw)
		}
		for range 5 {
			h.notification("notifications/tools/list_changed")
		}
		h.stop()
	}
}

func (h *host) notification(method string) {
	h.t.Helper()
	h.take(method, func(m message) bool { return m.Method == method })
}
