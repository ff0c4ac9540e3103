package e2e

import (
	"strings"
	"testing"
)

// The proxy is killed with tasks at every stage; the next one answers for them,
// to a host that connects anew.
func TestKilledProxyOverHTTPKeepsItsTasks(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	l := p.listen(t)
	h := l.join()
	done := taskOf(t, h.ask(declared.toolCall("1", "echo", `{"big":9007199254740993}`)))
	before := string(at(finishTask(h, done, "completed").Result, "result"))
	running := taskOf(t, h.ask(declared.toolCall("2", "gate", `{"gate":"shut"}`)))
	h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	h.send(plain.request("3", "subscriptions/listen", listenTools))
	h.kill()
	h = p.startHTTP(t)
	if after := string(at(finishTask(h, done, "completed").Result, "result")); after != before {
		t.Errorf("the result changed over the restart\nbefore %s\nafter  %s", before, after)
	}
	failed := finishTask(h, running, "failed")
	if why, outcome := reason(at(failed.Result, "error")); why != "proxy_restarted" || outcome != "unknown" {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, failed.Raw)
	}
	if n := seen.count("call gate"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// A task outlives the host that began it, and any other host of the owner may
// ask for it: on another connection, with other capabilities, of another name.
func TestTaskOutlivesItsHostOverHTTP(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	l := p.listen(t)
	first := l.join()
	id := taskOf(t, first.ask(declared.toolCall("1", "gate", `{"gate":"a"}`)))
	first.stdin.(*httpWire).stop()
	second := l.join()
	with := strings.Replace(metaTasks, `"extensions"`, `"elicitation":{},"extensions"`, 1)
	m := second.ask(request("1", "tasks/get", `{"taskId":"`+id+`","_meta":{`+with+`}}`))
	if m.text("status") != "working" {
		t.Errorf("to another host the task is %s", m.Raw)
	}
	second.ask(plain.toolCall("2", "release", `{"gate":"a"}`))
	finishTask(second, id, "completed")
	if n := seen.count("call gate"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}
