//go:build unix

package e2e

import (
	"fmt"
	"strings"
)

// look has a new window ask for every task there ever was.
func (c *chaos) look() {
	c.t.Helper()
	h := c.start(c.t)
	c.windows = append(c.windows, h)
	for id, name := range c.tasks {
		m := h.ask(declared.request(h.freshID(), "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)))
		if fault := c.judge(id, m, c.calls(name)); fault != "" {
			c.t.Errorf("%s: %s: called %d times, %s", name, fault, c.calls(name), m.Raw)
		}
	}
	for _, name := range c.unheard {
		if n := c.calls(name); n > 1 {
			c.t.Errorf("%s, of which nobody heard, was called %d times", name, n)
		}
	}
}

// judge says what is wrong with a task: each is known, none was called twice, none
// has ended without a reason, and none leaves the state that it has ended in.
func (c *chaos) judge(id string, m message, calls int) string {
	_, outcome := reason(at(m.Result, "error"))
	status, before := m.text("status"), c.ended[id]
	if terminal(m) {
		c.ended[id] = status
	}
	switch {
	case m.Error != nil:
		return "it is lost"
	case calls > 1:
		return "it was called more than once"
	case before != "" && before != status:
		return "it was " + before
	case status == "working", status == "completed" && calls == 1, status == "cancelled",
		status == "failed" && outcome == "unknown", status == "failed" && outcome == "not_dispatched" && calls == 0:
		return ""
	}
	return "it has no right to be so"
}

// calls is how often a server was called by this name.
func (c *chaos) calls(name string) int {
	n := 0
	for _, line := range c.seen.received() {
		if strings.Contains(line, `"tools/call"`) && strings.Contains(line, `"name":"`+name+`"`) {
			n++
		}
	}
	return n
}

// settle sees that no task works for ever: what nobody lets go is cancelled, and
// everything else ends. Then all leave.
func (c *chaos) settle() {
	c.t.Helper()
	h := c.start(c.t)
	for id, name := range c.tasks {
		m := pollTask(h, id, func(message) bool { return c.waits(name) })
		if m.text("status") == "working" {
			h.cancelTask(id)
			m = pollTask(h, id, terminal)
		}
		if fault := c.judge(id, m, c.calls(name)); fault != "" || !terminal(m) {
			c.t.Errorf("at the end of %s: %s: called %d times, %s", name, fault, c.calls(name), m.Raw)
		}
	}
	for _, w := range append(c.windows, h) {
		w.stop()
	}
	awaitNobody(c.t, c.mark)
}

// waits says whether a server has a call that waits for a door that nobody opens.
func (c *chaos) waits(name string) bool {
	return strings.Contains(c.seen.read(c.seen.log), `"gate":"`+name+`"`)
}
