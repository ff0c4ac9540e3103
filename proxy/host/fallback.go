package host

import (
	"fmt"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// fallback is for hosts without tasks: a call that takes long is answered with a
// ticket, and three tools beside the server's own are for whoever has one. It is
// nil where no policy wants it.
type fallback struct {
	*channel
	serves map[string]func(*job) // calls of our tools, by their names
}

func newFallback(c *channel) *fallback {
	if !c.Proxy.FallsBack() {
		return nil
	}
	f := &fallback{channel: c}
	f.serves = map[string]func(*job){c.Fallback.Result: f.result, c.Fallback.Status: f.status, c.Fallback.Cancel: f.cancel}
	return f
}

// is reports whether a host gets tickets, and the tools.
func (f *fallback) is() bool {
	return f != nil && !f.collided.Load()
}

// has says that a call is of one of our tools.
func (f *fallback) has(m wire.Message) bool {
	return f.is() && m.Method() == "tools/call" && f.serves[toolOf(m)] != nil
}

func toolOf(m wire.Message) string {
	name, _ := wire.String(wire.Get(m.Params(), "name"))
	return name
}

// list adds the tools to the last page of the server's, and takes outputSchema off
// the tools that may answer with a ticket: hosts refuse a result that does not fit
// it (revision 2025-11-25, Tools, Output Schema). Where the server has a tool of
// one of our names there is no fallback.
func (f *fallback) list(result []byte) []byte {
	if !f.is() {
		return result
	}
	tools := wire.Elements(wire.Get(result, "tools"))
	for i, tool := range tools {
		name, _ := wire.String(wire.Get(tool, "name"))
		if f.serves[name] != nil {
			f.collide(name)
			return result
		}
		if f.Proxy.Policy(name).GivesTickets() {
			tools[i] = wire.Delete(tool, "outputSchema")
		}
	}
	if cursor := wire.Get(result, "nextCursor"); cursor == nil || string(cursor) == "null" {
		tools = append(tools, f.definitions()...)
	}
	return wire.Set(result, "tools", wire.Array(tools))
}

func (f *fallback) collide(name string) {
	if f.collided.Swap(true) {
		return
	}
	f.Log.Error().Str("tool", name).Msg("the server has a tool of this name itself: slow calls are waited for. Choose another name in the configuration, under fallback")
}

func (f *fallback) definitions() [][]byte {
	define := func(name, description, annotations string) []byte {
		tool := wire.Set(nil, "annotations", []byte(annotations))
		tool = wire.Set(tool, "inputSchema", []byte(`{"type":"object","properties":{"task_id":{"type":"string","description":"The id that the answer to the slow call named."}},"required":["task_id"]}`))
		return wire.Set(wire.Set(tool, "description", wire.Quote(description)), "name", wire.Quote(name))
	}
	o := f.Fallback
	return [][]byte{
		define(o.Result, fmt.Sprintf("Get the result of a slow tool call that was answered with a task id. Waits up to %v; if the work is not done by then, call it again.", o.Wait), `{"readOnlyHint":true}`),
		define(o.Status, "See how far a slow tool call is that was answered with a task id.", `{"readOnlyHint":true}`),
		define(o.Cancel, "End a slow tool call that was answered with a task id.", `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true}`),
	}
}

// ticket is the answer to a call that goes on.
func (f *fallback) ticket(t taskstate.Task) wire.Message {
	o := f.Fallback
	return f.say(t, fmt.Sprintf(
		"The call of %s is still at work, and goes on as task %s. Its result will be kept: call the tool %s with {\"task_id\": %q} to get it (it waits up to %v; call it again if it says that the work goes on). "+
			"%s tells how far it is, %s ends it. Do not call %s again for the same work.",
		t.Tool, t.ID, o.Result, t.ID, o.Wait, o.Status, o.Cancel, t.Tool))
}

// say is a result for a model, with the task for programs.
func (f *fallback) say(t taskstate.Task, text string) wire.Message {
	meta := wire.Set(nil, metaTask, taskObject("", t))
	return wire.Result(noID, wire.Set(textResult(text), "_meta", meta))
}

func textResult(text string) []byte {
	content := wire.Set(wire.Set(nil, "text", wire.Quote(text)), "type", []byte(`"text"`))
	return wire.Set(nil, "content", wire.Array([][]byte{content}))
}

// refuseTicket is a result and no error: it is meant for the model (revision
// 2025-11-25, Tools, Error Handling).
func refuseTicket(format string, args ...any) wire.Message {
	return wire.Result(noID, wire.Set(textResult(fmt.Sprintf(format, args...)), "isError", []byte("true")))
}
