package proxy

import (
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// call is a request of a host, and what has come back.
type call struct {
	t       *testing.T
	request *Request
	came    chan reply // with room for more than may come
	handled Cancel
}

func (c *call) cancel(notice wire.Message)             { c.handled(notice, nil) }
func (c *call) takeBack(then func(o upstream.Outcome)) { c.handled(notice, then) }

// reply is a response, or the handle of a task.
type reply struct {
	message wire.Message
	task    taskstate.Task
}

const deploy = `{"name":"deploy","arguments":{"n":1}}`

// calls sends a tools/call of a host of the stateless era that declares all.
func (r *rig) calls(params string, change func(*Request)) *call {
	c := &call{t: r.t, came: make(chan reply, 10)}
	c.request = &Request{
		Message: wire.Request(1, "tools/call", []byte(params)), Upstream: r.client,
		Caller: upstream.Caller{Capabilities: []byte(everything)},
		Reply: func(m wire.Message) bool {
			c.came <- reply{message: m}
			return true
		},
		ReplyTask: func(task taskstate.Task) bool {
			c.came <- reply{task: task}
			return true
		},
	}
	if change != nil {
		change(c.request)
	}
	c.handled = r.proxy.Handle(c.request)
	return c
}

func asTask(r *Request) { r.Tasks = true }

func (c *call) next() reply {
	c.t.Helper()
	select {
	case got := <-c.came:
		return got
	case <-time.After(24 * time.Hour):
		c.t.Fatal("the host got no answer")
		return reply{}
	}
}

// wantNone checks that the host has got nothing more.
func (c *call) wantNone() {
	c.t.Helper()
	settle()
	select {
	case got := <-c.came:
		c.t.Errorf("the host got %s %s", got.message.Raw(), got.task.ID)
	default:
	}
}

// task waits for the handle.
func (c *call) task() taskstate.Task {
	c.t.Helper()
	got := c.next()
	if got.task.ID == "" {
		c.t.Fatalf("the host got %s, want a task", got.message.Raw())
	}
	return got.task
}

func (c *call) result() []byte {
	c.t.Helper()
	got := c.next()
	if got.message.Result() == nil {
		c.t.Fatalf("the host got %s %s, want a result", got.message.Raw(), got.task.ID)
	}
	return got.message.Result()
}

// wantRefused waits for an error with that reason.
func (c *call) wantRefused(reason string) []byte {
	c.t.Helper()
	got := c.next().message
	if data, _ := wire.String(wire.Lookup(got.Err(), "data", "reason")); data != reason {
		c.t.Errorf("the host got %s, want an error with reason %s", got.Raw(), reason)
	}
	return got.Err()
}

// asked waits for the call's questions, and returns them with the state.
func (c *call) asked() (requests []byte, state string) {
	c.t.Helper()
	result := c.result()
	if kind, _ := wire.String(wire.Get(result, "resultType")); kind != "input_required" {
		c.t.Fatalf("the host got %s, want questions", result)
	}
	state, _ = wire.String(wire.Get(result, keyState))
	return wire.Get(result, "inputRequests"), state
}

// again is the params of a call that comes back with a state and answers.
func again(params, state, responses string) string {
	all := wire.Set([]byte(params), keyState, wire.Quote(state))
	return string(wire.Set(all, keyResponses, []byte(responses)))
}

// accepts is an answer to each of the questions.
func accepts(keys ...string) string {
	text := []byte("{}")
	for _, key := range keys {
		text = wire.Set(text, key, []byte(`{"action":"accept","content":{}}`))
	}
	return string(text)
}
