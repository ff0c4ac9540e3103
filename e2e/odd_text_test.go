package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// oddText is what must not stand in a message, and what may and is no text: bytes that
// are not UTF-8 (RFC 8259, section 8.1), halves of surrogate pairs, NUL.
const oddText = `{"bytes":"a` + "\xff\xfe\xc3(\xed\xa0\x80" + `z","half":"\ud800","wrong":"\udc00\ud800","nul":"\u0000","k` + "\xff" + `":"\u0000"}`

// What the proxy does not own stays as it is, even if it is no text, in a call, in a
// task, and after a restart; whatever reads it takes the rest of the store as before.
func TestOddTextPassesAsItIs(t *testing.T) {
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	h := p.start(t)
	m := h.ask(stateless{}.toolCall("1", "echo", oddText))
	checkEcho(t, "a call", string(at(m.Result, "structuredContent")))
	h.stop()
	p.Config = alwaysTasks
	h = p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "echo", oddText)))
	checkEcho(t, "a task", string(at(finishTask(h, id, "completed").Result, "result", "structuredContent")))
	for _, line := range seen.received() {
		if m, _ := parseMessage(line); m.Method == "tools/call" {
			checkEcho(t, "the server's request", string(at(m.Params, "arguments")))
		}
	}
	h.kill()
	h = p.start(t)
	checkEcho(t, "a later process", string(at(finishTask(h, id, "completed").Result, "result", "structuredContent")))
	h.initialize("2025-11-25")
	checkEcho(t, "tasks/result", string(at(h.older("tasks/result", id).Result, "structuredContent")))
	if m := h.ask(request("3", "tasks/list", `{}`)); !strings.Contains(string(m.Result), id) {
		t.Errorf("tasks/list: %s", cut(m.Raw))
	}
}

func checkEcho(t *testing.T, what, got string) {
	t.Helper()
	if got != oddText {
		t.Errorf("%s has %q, want %q", what, got, oddText)
	}
}

// NUL as it stands is no JSON: a call with it is refused, and nothing else.
func TestNULAsItStandsIsRefused(t *testing.T) {
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	h := p.start(t)
	h.initialize("2025-11-25")
	h.send(toolCall("1", "echo", fmt.Sprintf(`{"nul":"%c"}`, 0)))
	if m := h.next(); m.code() != -32700 {
		t.Errorf("got %s", cut(m.Raw))
	}
	if m := h.ask(toolCall("2", "release", `{}`)); m.Error != nil || seen.count("call echo") != 0 {
		t.Errorf("the next call: %s; echo was called %d times", cut(m.Raw), seen.count("call echo"))
	}
}
