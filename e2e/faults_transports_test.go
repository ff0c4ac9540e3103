package e2e

import (
	"testing"
)

// upstreams are the ways to reach a server, each with a fixture behind it.
var upstreams = []struct {
	name, fixture string
	front         func(t testing.TB, argv []string) string // its URL; nil for stdio
}{
	{"stdio", "legacy", nil},
	{"stateless HTTP", "modern", startAloneFront},
	{"session HTTP", "legacy", startSessionFront},
	{"HTTP+SSE", "legacy", startSSEFront},
}

// One policy file gives tasks in front of every transport, and their results
// outlive the proxy's process.
func TestOnePolicyInFrontOfEveryTransport(t *testing.T) {
	t.Parallel()
	for _, u := range upstreams {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			args := []string{}
			if u.name == "session HTTP" {
				args = []string{"-version", "2025-11-25"}
			}
			p, seen := proxyAround(t, u.fixture, args...)
			p.Config = "task: after\nafter: 200ms\npoll_interval: 100ms\n"
			if u.front != nil {
				p.URL = u.front(t, p.Upstream)
			}
			h := p.startHTTP(t)
			id := taskOf(t, h.ask(declared.toolCall("1", "gate", `{"gate":"a"}`)))
			if m := h.ask(declared.toolCall("2", "release", `{"gate":"a"}`)); m.Error != nil {
				t.Fatalf("a quick call failed: %s", m.Raw)
			}
			before := string(at(finishTask(h, id, "completed").Result, "result"))
			h.kill()
			after := string(at(finishTask(p.startHTTP(t), id, "completed").Result, "result"))
			if before != after || before == "" {
				t.Errorf("the result changed over the restart\nbefore %s\nafter  %s", before, after)
			}
			if n := seen.count("call gate"); n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

// What runs while the proxy is killed has an unknown outcome in front of every
// transport, and is not sent again.
func TestKilledProxyInFrontOfEveryTransport(t *testing.T) {
	t.Parallel()
	for _, u := range upstreams {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			p, seen := proxyAround(t, u.fixture)
			p.Config = alwaysTasks
			if u.front != nil {
				p.URL = u.front(t, p.Upstream)
			}
			h := p.startHTTP(t)
			id := taskOf(t, h.ask(declared.toolCall("1", "gate", `{"gate":"shut"}`)))
			h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
			h.kill()
			failed := finishTask(p.startHTTP(t), id, "failed")
			if why, outcome := reason(at(failed.Result, "error")); why != "proxy_restarted" || outcome != "unknown" {
				t.Errorf("reason %q, outcome %q: %s", why, outcome, failed.Raw)
			}
			if n := seen.count("call gate"); n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

// Over HTTP+SSE the session is one stream: when that is cut, what runs on it
// has an unknown outcome, and the next call opens another.
func TestCutStreamOfHTTPAndSSE(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = "task: after\nafter: 200ms\npoll_interval: 100ms\n"
	p.URL = startSSEFront(t, p.Upstream)
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "gate", `{"gate":"shut"}`)))
	h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	h.send(declared.toolCall("2", "crash", `{}`)) // the front ends the stream with its process
	f := fault{"crash", nil, "upstream_stream_cut", "unknown", nil}
	f.check(t, h.response("2").Error)
	f.check(t, at(finishTask(h, id, "failed").Result, "error"))
	if m := h.ask(declared.toolCall("3", "release", `{}`)); m.Error != nil {
		t.Errorf("the next call was not served: %s", m.Raw)
	}
	if n := seen.count("call gate") + seen.count("call crash"); n != 2 {
		t.Errorf("two tools were called %d times", n)
	}
}
