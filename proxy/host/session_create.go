package host

import (
	"encoding/json"
	"math"
	"sync/atomic"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// creation is a call that the host wants to be a task.
type creation struct {
	session *session
	x       exchange
	talk    atomic.Pointer[talk] // nil as long as the call is unanswered
}

// create serves a tools/call with params.task (revision 2025-11-25, Tasks,
// Creating Tasks). The server is told nothing of the wish: whether it is to make a
// task of its own is another matter.
func (s *session) create(x exchange, wish []byte) canceller {
	tool := toolOf(x.request)
	ttl, err := wishedTTL(wish)
	if err == nil && (s.Proxy.Policy(tool).Task == proxy.Never || s.fallback.has(x.request)) {
		err = wire.Errorf(wire.CodeMethodNotFound, "Tool %.100q cannot be called as a task here: call it without params.task. %s",
			tool, upstream.NotDispatched.Sentence())
	}
	if err != nil {
		x.fail(err)
		return nil
	}
	x.request = x.request.With(wire.Changes{Params: wire.Delete(x.request.Params(), "task")})
	return s.Proxy.Handle((&creation{session: s, x: x}).request(ttl))
}

func (c *creation) request(ttl time.Duration) *proxy.Request {
	req := c.session.request(c.x)
	req.Tasks, req.AtOnce, req.TTL, req.Ask = true, true, ttl, nil
	lasting := c.x
	lasting.notify = c.progress
	req.Progress, req.ProgressLasts = progressTo(lasting), true
	reply := req.Reply
	req.Reply = func(m wire.Message) bool {
		if m.Result() != nil {
			m = wire.Failure(noID, withoutTask(m.Result()))
		}
		return reply(m)
	}
	req.ReplyTask = c.made
	return req
}

// made answers before anything else is heard of the task.
func (c *creation) made(t taskstate.Task) bool {
	if !c.x.result(c.session.created(t)) {
		return false
	}
	c.talk.Store(c.session.talks.begin(t))
	return true
}

// progress goes on under the call's token for the life of the task (revision
// 2025-11-25, Tasks, Task Progress Notifications), when the call's own stream has
// ended.
func (c *creation) progress(m wire.Message) {
	if t := c.talk.Load(); t != nil {
		t.send(m.With(wire.Changes{Params: related(m.Params(), t.id)}))
		return
	}
	c.x.notify(m)
}

// wishedTTL takes params.task; 0 is no wish.
func wishedTTL(wish []byte) (time.Duration, *wire.Error) {
	if !wire.IsObject(wish) {
		return 0, wire.Errorf(wire.CodeInvalidParams, "params.task must be an object.")
	}
	ttl := wire.Get(wish, "ttl")
	if ttl == nil || string(ttl) == "null" {
		return 0, nil
	}
	var ms float64
	if json.Unmarshal(ttl, &ms) != nil || ms < 0 {
		return 0, wire.Errorf(wire.CodeInvalidParams, "params.task.ttl must be a number of milliseconds, and not negative.")
	}
	const most = math.MaxInt64 / 2
	return time.Duration(min(ms*float64(time.Millisecond), most)), nil
}

// withoutTask is for a call that has an answer and no task. A host that asked for
// a task takes nothing else for a result: what there is comes with the error, so
// that it is not lost.
func withoutTask(result []byte) *wire.Error {
	text := "There is no task, because the call was answered already; the answer is in data.result. Calling the tool again may do its work again."
	if said := proxy.FirstText(result); said != "" {
		text += " It begins: " + proxy.Shorten(said, 300)
	}
	return &wire.Error{Code: wire.CodeInternal, Message: text, Data: map[string]any{
		"reason": "no_task", "outcome": upstream.Done, "result": json.RawMessage(result),
	}}
}
