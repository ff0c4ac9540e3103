package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// cell is a host in front of a server, of the matrix of TestMigration. It writes
// down what the host sees.
type cell struct {
	t        *testing.T
	h        *host
	seen     *records
	outcomes map[string]outcome // of this server
	mrtr     bool               // its server asks by its results
	open     bool               // the host has opened its session
	calls    int                // that reached the server before
	door     string
	trace    []string
}

func (c *cell) note(format string, args ...any) {
	c.trace = append(c.trace, fmt.Sprintf(format, args...))
}

// arguments have the tool wait at the door.
func (c *cell) arguments(o outcome) string { return fmt.Sprintf(o.arguments, c.door) }

// let opens the door for the call, which has reached the server, unless it is to
// be cancelled.
func (c *cell) let(o outcome) {
	c.t.Helper()
	c.h.await("the call to reach the server", func() bool { return c.seen.count("call "+o.tool) > c.calls })
	if o.cancelled {
		return
	}
	openDoor(c.t, c.door)
}

// session opens the host's session, once.
func (c *cell) session() {
	if !c.open {
		c.h.initialize("2025-11-25")
		c.open = true
	}
}

// outcome is what a call was answered with, in short.
func (c *cell) outcome(result, failure json.RawMessage) string {
	if failure != nil {
		return fmt.Sprintf("error %s: %s", at(failure, "code"), text(at(failure, "message")))
	}
	said := firstText(result)
	if string(at(result, "isError")) == "true" {
		said = "isError: " + said
	}
	if what, _, more := strings.Cut(said, " {"); more {
		return what // and the answer that the tool repeats
	}
	return said
}

func text(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

// firstText is that of the first block of a tool's result.
func firstText(result json.RawMessage) string {
	var blocks []struct{ Text string }
	if _ = json.Unmarshal(at(result, "content"), &blocks); len(blocks) > 0 {
		return blocks[0].Text
	}
	return "nothing: " + string(result)
}

// cancelRequest gives up a request, and looks for an answer to it when the server
// was told and something else is answered.
func (c *cell) cancelRequest(o outcome, id, other string) {
	c.t.Helper()
	before := c.seen.count("cancelled " + o.tool)
	c.h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	c.h.await("the server to be told of the cancel", func() bool { return c.seen.count("cancelled "+o.tool) > before })
	c.h.ask(other)
	for _, m := range c.h.left() {
		if m.Method == "" && string(m.ID) == id {
			c.note("an answer: %s", m.Raw)
			return
		}
	}
	c.note("no answer")
}

func (c *cell) playPlain(o outcome) {
	id := c.h.freshID()
	c.h.send(answers.toolCall(id, o.tool, c.arguments(o)))
	if c.let(o); o.cancelled {
		c.cancelRequest(o, id, plain.request(c.h.freshID(), "server/discover", `{}`))
		return
	}
	m := c.h.response(id)
	if o.asks {
		c.note("asked")
		m = c.h.ask(answers.request(c.h.freshID(), "tools/call", c.again(o.tool, c.arguments(o), m)))
	}
	c.note("%s", c.outcome(m.Result, m.Error))
}

// again are the params of a call that is repeated with the answer to what it was
// asked.
func (c *cell) again(tool, arguments string, m message) string {
	c.t.Helper()
	state := ""
	if raw := at(m.Result, "requestState"); raw != nil {
		state = `,"requestState":` + string(raw)
	}
	return fmt.Sprintf(`{"name":%q,"arguments":%s%s,"inputResponses":%s}`, tool, arguments, state, c.replies(m))
}

// replies answer the one question that a message holds.
func (c *cell) replies(m message) string {
	c.t.Helper()
	keys := m.asked()
	if len(keys) != 1 {
		c.t.Fatalf("asked are %q: %s", keys, cut(m.Raw))
	}
	return fmt.Sprintf(`{%q:%s}`, keys[0], yes)
}

func (c *cell) playSession(o outcome) {
	c.session()
	id := c.h.freshID()
	c.h.send(toolCall(id, o.tool, c.arguments(o)))
	if c.let(o); o.cancelled {
		c.cancelRequest(o, id, request(c.h.freshID(), "ping", `{}`))
		return
	}
	if o.asks {
		c.answer(func(message) bool { return true })
	}
	m := c.h.response(id)
	c.note("%s", c.outcome(m.Result, m.Error))
}

// answer takes a request of the server and answers it.
func (c *cell) answer(meant func(message) bool) {
	c.t.Helper()
	q := c.h.take("the question", func(m message) bool { return m.Method == "elicitation/create" && meant(m) })
	c.note("asked")
	c.h.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + yes + `}`)
}

// older is a call that asks for a task.
func older(id, tool, arguments string) string {
	return request(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"task":{"ttl":600000}}`, tool, arguments))
}

func (c *cell) playOlder(o outcome) {
	c.session()
	m := c.h.ask(older(c.h.freshID(), o.tool, c.arguments(o)))
	id := m.text("task", "taskId")
	c.note("task %s", m.text("task", "status"))
	c.let(o)
	switch {
	case o.cancelled:
		c.note("%s", c.h.older("tasks/cancel", id).text("status"))
		c.note("again: error %d", c.h.older("tasks/cancel", id).code())
		c.note("error %d", c.h.older("tasks/result", id).code())
		return
	case o.asks:
		c.note("%s", pollOlder(c.h, id, "input_required").text("status"))
		c.answer(func(m message) bool { return text(at(m.Params, "_meta", relatedTask, "taskId")) == id })
	}
	m = pollOlder(c.h, id, "")
	if why := m.text("statusMessage"); m.text("status") == "failed" {
		c.note("failed (%s)", why)
	} else {
		c.note("%s", m.text("status"))
	}
	m = c.h.older("tasks/result", id)
	c.note("%s", c.outcome(m.Result, m.Error))
}

// older sends one of the requests that name a task.
func (h *host) older(method, id string) message {
	h.t.Helper()
	return h.ask(request(h.freshID(), method, fmt.Sprintf(`{"taskId":%q}`, id)))
}

// pollOlder asks for a task until it is in this state, or over.
func pollOlder(h *host, id, status string) (m message) {
	h.t.Helper()
	h.await("the task to be "+status+" or over", func() bool {
		m = h.older("tasks/get", id)
		return m.Error != nil || m.text("status") == status || terminal(m)
	})
	return m
}

func (c *cell) playExtension(o outcome) {
	m := c.h.ask(both.toolCall(c.h.freshID(), o.tool, c.arguments(o)))
	id := taskOf(c.t, m)
	c.note("task %s", m.text("status"))
	c.let(o)
	switch {
	case o.cancelled:
		c.h.ask(taskRequests(id)["tasks/cancel"])
		c.note("%s", pollTask(c.h, id, terminal).text("status"))
		if again := c.h.ask(taskRequests(id)["tasks/cancel"]); again.text("resultType") == "complete" {
			c.note("again: acknowledged")
		}
		return
	case o.asks:
		m = pollTask(c.h, id, func(m message) bool { return len(m.asked()) == 1 })
		c.note("%s · asked", m.text("status"))
		c.h.update(id, c.replies(m))
	}
	m = pollTask(c.h, id, terminal)
	c.note("%s: %s", m.text("status"), c.outcome(at(m.Result, "result"), at(m.Result, "error")))
}
