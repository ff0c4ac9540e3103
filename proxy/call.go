package proxy

import (
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// call treats a tools/call as the tool's policy says. The Tasks extension
// leaves it to the server alone whether a call becomes a task, but only for a
// client that declared it on this request (Capability Negotiation).
func (p *Proxy) call(req *Request) (cancel func(notice wire.Message)) {
	tool, _ := wire.String(wire.Get(req.Message.Params(), "name"))
	policy := p.opts.Policies.For(tool)
	switch {
	case policy.Task == Required && !req.Tasks:
		req.Reply(wire.Failure(noID, MissingTasks("Tool "+tool+" only runs as a task")))
		return func(wire.Message) {}
	case policy.Task == Never || !req.Tasks:
		return p.forward(req)
	case !p.enter():
		req.Reply(wire.Failure(noID, wireError(errShutdown, upstream.NotDispatched)))
		return func(wire.Message) {}
	}
	r := p.newRun(req, tool, policy)
	if policy.Task == After {
		r.after()
	} else {
		r.begin(r.always)
	}
	return r.cancelledByHost
}

// after waits for the answer up to the threshold, on no goroutine at all: most
// calls are quick.
func (r *run) after() {
	r.threshold = time.AfterFunc(r.policy.After, r.overdue)
	r.dispatch()
}

// overdue runs when the threshold has passed. The call becomes a task; where
// that cannot be stored it is waited for all the same.
func (r *run) overdue() {
	if !r.leaveQuick(pending) {
		return
	}
	defer r.over()
	switch {
	case r.req.Upstream.Recall(r.up):
		r.always() // the server is still starting: nothing was sent
	case r.store(true):
		r.work()
	default:
		r.wait()
	}
}

// wait is for the call that stays one.
func (r *run) wait() {
	select {
	case notice := <-r.hostCancelled:
		r.withdraw(notice)
	case a := <-r.answered:
		r.req.Reply(response(a.message, a.err))
	}
}

// always stores the task before the server hears of the call.
func (r *run) always() {
	if !r.store(false) {
		r.dispatch()
		r.wait()
		return
	}
	r.start()
}

// store makes the call a task and answers the host with its handle: only once
// the task is durable (Tasks extension, Task Creation). A host that cancelled
// in the meantime gets no answer, and the task ends as cancelled.
func (r *run) store(dispatched bool) bool {
	task := r.record(dispatched)
	task, err := r.proxy.opts.Store.Create(r.ctx, task)
	if err != nil {
		r.log.Error().Err(err).Msg("the call could not be stored as a task; it goes on without one")
		return false
	}
	r.adopt(task)
	r.log.Info().Bool("sent", dispatched).Msg("the call is a task now")
	if !r.req.ReplyTask(task) {
		if err := r.proxy.cancel(task.ID); err != nil {
			r.log.Error().Err(err).Msg("a task that nobody knows of could not be cancelled")
		}
	}
	return true
}
