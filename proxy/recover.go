package proxy

import (
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Recover takes up the tasks that an earlier process stored for this server and
// never sent, and follows those that the server itself keeps; call it once, before
// any host is served. They run over the session that dial names for their owner and
// their sender.
func (p *Proxy) Recover(dial func(owner string, sender upstream.Caller) *upstream.Client) {
	for _, task := range p.opts.Tasks.claim(p.opts.Identity) {
		switch {
		case !p.enter():
		case task.Remote != nil:
			p.takeUpRemote(task, dial)
		default:
			p.takeUp(task, dial)
		}
	}
}

func (p *Proxy) takeUp(task taskstate.Task, dial func(string, upstream.Caller) *upstream.Client) {
	message, head, err := decodeRequest(task.Request)
	client := dial(task.Owner, head.Caller)
	req := &Request{Message: message, Caller: head.Caller, Upstream: client, Owner: task.Owner, Tasks: true}
	r := p.newRun(req, task.Tool, p.policyOf(task, head.Approve))
	r.post(func() { r.goOnWith(task, head, err) })
}

// goOnWith has the run go on with a stored task. What nobody has confirmed yet is
// asked once more.
func (r *run) goOnWith(task taskstate.Task, head storedHead, unreadable error) {
	switch {
	case r.proxy.opts.Tasks.hasEnded(task.ID):
		r.stop()
		return
	case unreadable != nil:
		r.log().Error().Err(unreadable).Msg("what was stored of a call cannot be read")
		r.abandon(task, errUnsendable, upstream.NotDispatched)
		return
	case head.Headers:
		r.abandon(task, errHeadersGone, upstream.NotDispatched)
		return
	}
	r.recovered = true
	if !r.cleared {
		r.adopt(task)
		r.gate()
		return
	}
	placed, _ := r.place(true)
	r.adopt(task)
	r.log().Info().Msg("a task that an earlier process had stored goes on")
	if placed {
		r.sendPlaced()
	}
}

// abandon is for a stored task that cannot be gone on with.
func (r *run) abandon(task taskstate.Task, cause error, outcome upstream.Outcome) {
	r.proxy.opts.Tasks.abandon(task, cause, outcome)
	r.stop()
}

// policyOf is what the task's policy was when it was made.
func (p *Proxy) policyOf(task taskstate.Task, approve Approve) Policy {
	now := p.opts.Policies.For(task.Tool)
	return Policy{
		Task: Always, TTL: task.TTL, PollInterval: task.PollInterval, MaxRun: task.MaxRun, Stall: task.Stall,
		InputTimeout: now.InputTimeout, Approve: approve, NoUpstreamTasks: now.NoUpstreamTasks, Concurrency: now.Concurrency,
	}
}
