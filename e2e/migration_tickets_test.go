package e2e

import (
	"fmt"
	"regexp"
)

// ticketID is how a ticket names its task for a model.
var ticketID = regexp.MustCompile(`"task_id": "([^"]+)"`)

// ticket notes that the call was answered with one, and returns the id it names.
func (c *cell) ticket(m message) string {
	c.t.Helper()
	found := ticketID.FindStringSubmatch(firstText(m.Result))
	if found == nil {
		c.t.Fatalf("no ticket: %s", cut(m.Raw))
	}
	c.note("ticket")
	return fmt.Sprintf(`{"task_id":%q}`, found[1])
}

// tool calls one of the tools that are for those who have a ticket.
type ticketTool func(tool, arguments string) message

func (c *cell) playTicket(o outcome) {
	call := func(tool, arguments string) message { return c.h.ask(answers.toolCall(c.h.freshID(), tool, arguments)) }
	ticket := c.ticket(call(o.tool, c.arguments(o)))
	c.followTicket(o, ticket, call, func() message {
		m := call("task_result", ticket)
		if o.asks {
			c.note("asked")
			m = c.h.ask(answers.request(c.h.freshID(), "tools/call", c.again("task_result", ticket, m)))
		}
		return m
	})
}

func (c *cell) playTicketSession(o outcome) {
	c.session()
	call := func(tool, arguments string) message { return c.h.ask(toolCall(c.h.freshID(), tool, arguments)) }
	ticket := c.ticket(call(o.tool, c.arguments(o)))
	c.followTicket(o, ticket, call, func() message {
		id := c.h.freshID()
		c.h.send(toolCall(id, "task_result", ticket))
		if o.asks {
			c.answer(func(message) bool { return true })
		}
		return c.h.response(id)
	})
}

var ticketStatus = regexp.MustCompile(`working|cancelled|was cancelled`)

func (c *cell) followTicket(o outcome, ticket string, call ticketTool, result func() message) {
	c.note("%s", ticketStatus.FindString(firstText(call("task_status", ticket).Result)))
	if c.let(o); o.cancelled {
		c.note("%s", ticketStatus.FindString(firstText(call("task_cancel", ticket).Result)))
		m := call("task_result", ticket)
		c.note("isError: %s", regexp.MustCompile("was cancelled").FindString(c.outcome(m.Result, m.Error)))
		return
	}
	m := result()
	c.note("%s", c.outcome(m.Result, m.Error))
}
