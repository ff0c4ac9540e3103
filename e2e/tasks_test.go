package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// After its ttl the id of a finished task is one that nobody knows; the tool is
// not called again for it.
func TestFinishedTaskExpires(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = "task: always\nttl: 500ms\n"
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "release", `{}`)))
	var last message
	h.await("the task to be forgotten", func() bool {
		last = h.ask(declared.request(h.freshID(), "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)))
		return last.Error != nil
	})
	if last.code() != -32602 {
		t.Errorf("an expired task answers %s", last.Raw)
	}
	if n := seen.count("call release"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// A task that nobody may know any more is gone after a restart, too.
func TestTaskExpiresWhileTheProxyIsAway(t *testing.T) {
	p, _ := proxyAround(t, "legacy")
	p.Config = "task: always\nttl: 1ms\n"
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "release", `{}`)))
	h.await("the task to end", func() bool {
		m := h.ask(declared.request(h.freshID(), "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)))
		return m.Error != nil || terminal(m)
	})
	h.kill()
	m := p.start(t).ask(declared.request("1", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)))
	if m.code() != -32602 {
		t.Errorf("an expired task answers %s", m.Raw)
	}
}

// The host is gone while a task runs: a task that finishes in the time that the
// proxy still waits is kept, and answered for in the next life.
func TestTaskOutlivesItsHost(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "slow", `{"seconds":0.5}`)))
	h.await("the call to reach the server", func() bool { return seen.count("call slow") == 1 })
	if status := h.stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	finishTask(p.start(t), id, "completed")
	if n := seen.count("call slow"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// The host is gone and the task does not end: it fails, and says why.
func TestTaskThatDoesNotEndWithItsHost(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "gate", `{"gate":"shut"}`)))
	h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	h.stop()
	failed := finishTask(p.start(t), id, "failed")
	if why, outcome := reason(at(failed.Result, "error")); why != "shutdown" || outcome != "unknown" {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, failed.Raw)
	}
}

// What a server says in its error, however much, is in the error alone.
func TestLongErrorKeepsStatusMessageShort(t *testing.T) {
	p, _ := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	h := p.start(t)
	m := finishTask(h, taskOf(t, h.ask(declared.toolCall("1", "rpcerror", `{"bytes":200000}`))), "failed")
	if n := len(m.text("statusMessage")); n == 0 || n > 2000 {
		t.Errorf("statusMessage has %d bytes", n)
	}
	want := `{"code":-32050,"message":"the tool broke` + strings.Repeat("x", 200_000) + `","data":{"big":9007199254740993,"one":1.0}}`
	if got := string(at(m.Result, "error")); got != want {
		t.Errorf("the error is not whole: %s", cut(got))
	}
}
