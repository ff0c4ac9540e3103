package e2e

import (
	"fmt"
	"testing"
)

func (h *host) listenFor(id string, tasks ...string) {
	h.t.Helper()
	h.send(both.request(id, "subscriptions/listen", `{"notifications":{"taskIds":`+raw(tasks)+`}}`))
}

func (h *host) acknowledged() string {
	h.t.Helper()
	m := h.take("the acknowledgement", func(m message) bool { return m.Method == "notifications/subscriptions/acknowledged" })
	return string(at(m.Params, "notifications"))
}

// told is the status in the next notification of a task.
func (h *host) told() (status string) {
	h.t.Helper()
	m := h.take("news of a task", func(m message) bool { return m.Method == "notifications/tasks" })
	return message{Result: m.Params}.text("status")
}

func (h *host) wantTold(want string) {
	h.t.Helper()
	if got := h.told(); got != want {
		h.t.Fatalf("the host was told %q, want %q", got, want)
	}
}

// Another's task is to a listener what an id is that nobody was ever given.
func TestForeignTaskIsNotHeardOf(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	withTokens(t, p)
	p.Config = "tools: {gate: {task: always}}\n"
	l := p.listen(t)
	alice, bob := l.joinAs(bearer(aliceToken)), l.joinAs(bearer(bobToken))
	id := taskOf(t, alice.ask(both.toolCall("1", "gate", `{"gate":"a"}`)))
	bob.listenFor(`"l"`, id, "nobody")
	if got := bob.acknowledged(); got != `{"taskIds":[]}` {
		t.Errorf("acknowledged is %s", got)
	}
	alice.listenFor(`"l"`, id, "nobody")
	if got := alice.acknowledged(); got != `{"taskIds":["`+id+`"]}` {
		t.Errorf("acknowledged is %s", got)
	}
	alice.wantTold("working")
	alice.ask(both.request(alice.freshID(), "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id)))
	alice.wantTold("cancelled")
	for _, m := range bob.left() {
		t.Errorf("somebody else heard %s", m.Raw)
	}
}

// Whoever comes back hears the present state once, then what changes.
func TestListenerThatComesBackHearsThePresent(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Flags = []string{"--after", "1h"}
	l := p.listen(t)
	first := l.join()
	id := taskOf(t, first.ask(both.quiz("1", `{}`, "")))
	first.listenFor(`"l"`, id)
	first.acknowledged()
	first.wantTold("input_required")
	first.stdin.(*httpWire).stop()
	for range 3 {
		h := l.join()
		h.listenFor(`"l"`, id)
		h.acknowledged()
		h.wantTold("input_required")
		h.stdin.(*httpWire).stop()
	}
	last := l.join()
	last.listenFor(`"l"`, id)
	last.acknowledged()
	last.wantTold("input_required")
	last.update(id, `{"elicitation-1":`+yes+`}`)
	last.wantTold("working")
	last.wantTold("completed")
}

// Progress is told sparingly, the newest each time, and the end in any case.
func TestProgressOfATaskIsToldSparingly(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = "task: always\n"
	h := p.start(t)
	id := taskOf(t, h.ask(both.toolCall("1", "slow", `{"seconds":1.5}`)))
	h.listenFor(`"l"`, id)
	h.acknowledged()
	working := 0
	for status := h.told(); status != "completed"; status = h.told() {
		if working++; status != "working" {
			t.Fatalf("the task is %s", status)
		}
	}
	if working < 2 || working > 4 { // at the start, and once a second at most
		t.Errorf("working was told %d times", working)
	}
}

// The level is set before the call that wants it, whichever way the server is
// reached.
func TestLogLevelIsSetBeforeTheCall(t *testing.T) {
	for _, way := range transports[:4] {
		if way.http {
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
			if way.server != nil {
				p.URL = way.server(t, p.Upstream)
			}
			h := p.start(t)
			for _, level := range []string{"error", "debug"} {
				h.ask(stateless{Meta: `"io.modelcontextprotocol/logLevel":"` + level + `"`}.toolCall(h.freshID(), "log", `{}`))
			}
			var order []string
			for _, line := range seen.received() {
				switch m, _ := parseMessage(line); m.Method {
				case "logging/setLevel":
					order = append(order, string(at(m.Params, "level")))
				case "tools/call":
					order = append(order, "call")
				}
			}
			if got := fmt.Sprint(order); got != `["error" call "debug" call]` {
				t.Errorf("the server received %s", got)
			}
		})
	}
}
