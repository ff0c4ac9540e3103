package rawmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// runVariable names what tells servers apart that were started with the same
// command. One that has it notes its process id.
const runVariable = "E2E_RUN"

// call is one tools/call in progress.
type call struct {
	ctx    context.Context // ends with notifications/cancelled
	s      *server
	id     json.RawMessage
	params json.RawMessage
	tool   string
	args   json.RawMessage
	token  json.RawMessage // progress token as it was sent, nil if there was none
	task   *task           // what the call was answered with, nil if it has no answer yet
}

// respond answers with a result of these members.
func (c *call) respond(members string) { c.answer(c.s.era.result(members, false)) }

// answer is the result of the call, or of the task that it became.
func (c *call) answer(result string) {
	if c.task != nil {
		c.s.end(c.task, []byte(result), nil)
		return
	}
	c.s.reply(c.id, result)
	c.trace("said")
}

func (c *call) fail(code int, text, data string) {
	if c.task != nil {
		c.s.end(c.task, nil, []byte(errorObject(code, text, data)))
		return
	}
	c.s.fail(c.id, code, text, data)
	c.trace("said")
}

// trace notes for a call that names itself, {trace}, that it was made or answered,
// and in which run: a call that is repeated with answers is the same one.
func (c *call) trace(what string) {
	if name := text(member(c.args, "trace")); name != "" {
		c.s.effects.add(what + " " + name + " " + os.Getenv(runVariable))
	}
}

// progress sends a progress notification if the caller wanted any. The object
// holds all members but the token. A task shows the message, too.
func (c *call) progress(object json.RawMessage) {
	if message := text(member(object, "message")); c.task != nil && message != "" {
		c.s.move(c.task, working, message)
	}
	if c.token != nil && len(object) > 2 {
		c.s.notify("notifications/progress", `{"progressToken":`+string(c.token)+`,`+string(object[1:]))
	}
}

// progressAll sends the progress that the argument of this name lists.
func (c *call) progressAll(argument string) {
	var objects []json.RawMessage
	_ = json.Unmarshal(member(c.args, argument), &objects)
	for _, object := range objects {
		c.progress(object)
	}
}

// errCancelled is the cause of a call that its caller cancelled.
var errCancelled = errors.New("cancelled by the client")

// cancelled leaves a trace; a cancelled call is not answered, and its task is
// over already.
func (c *call) cancelled() {
	if context.Cause(c.ctx) == errCancelled {
		c.s.effects.add("cancelled " + c.tool)
	}
}

// number returns a numeric argument, or otherwise.
func (c *call) number(name string, otherwise float64) float64 {
	n := otherwise
	_ = json.Unmarshal(member(c.args, name), &n)
	return n
}

// run has every tool wait for the door {hold} first.
func (c *call) run() {
	tool, ok := tools[c.tool]
	switch {
	case !ok:
		c.fail(invalidParams, fmt.Sprintf("Unknown tool: %s", c.tool), "")
	case c.pass("hold"):
		tool(c)
	}
}
