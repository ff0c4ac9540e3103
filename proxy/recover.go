package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Recover settles the tasks that an earlier process left behind; call it once,
// before any host is served. What was sent and never answered has failed, its
// outcome unknown: it is not sent again. What was stored but never sent runs
// now, over the session that dial names for its owner and its sender, if it was
// meant for this server; another server's waits for a proxy of that one, or for
// the next start after its max_run.
func (p *Proxy) Recover(dial func(owner string, sender upstream.Caller) *upstream.Client) {
	var writes sync.WaitGroup // together they share their syncs
	defer writes.Wait()
	for _, task := range p.opts.Store.Running() {
		switch {
		case task.Dispatched:
			writes.Go(func() { p.abandon(task, errRestarted, upstream.Unknown) })
		case task.MaxRun > 0 && time.Since(task.CreatedAt) > task.MaxRun:
			writes.Go(func() { p.abandon(task, tooLong(task.MaxRun), upstream.NotDispatched) })
		case task.Upstream == p.opts.Identity && p.enter():
			p.resume(task, dial)
		}
	}
}

func (p *Proxy) abandon(task taskstate.Task, cause error, outcome upstream.Outcome) {
	log := p.opts.Log.With().Str("task", task.ID).Str("tool", task.Tool).Logger()
	if _, err := p.opts.Store.Finish(context.Background(), task.ID, failed(wireError(cause, outcome))); err != nil {
		log.Error().Err(err).Msg("the end of a task of an earlier process could not be written")
		return
	}
	log.Warn().Str("outcome", string(outcome)).Msg("a task of an earlier process has failed")
}

func (p *Proxy) resume(task taskstate.Task, dial func(string, upstream.Caller) *upstream.Client) {
	message, head, err := decodeRequest(task.Request)
	client := dial(task.Owner, head.Caller)
	req := &Request{Message: message, Caller: head.Caller, Upstream: client, Owner: task.Owner, Tasks: true}
	r := p.newRun(req, task.Tool, p.policyOf(task, head.Approve))
	r.post(func() { r.takeUp(task, head, err) })
}

// takeUp has the run go on with a stored task. What nobody has confirmed yet is
// asked once more.
func (r *run) takeUp(task taskstate.Task, head storedHead, unreadable error) {
	switch {
	case unreadable != nil:
		r.log.Error().Err(unreadable).Msg("what was stored of a call cannot be read")
		r.proxy.abandon(task, errUnsendable, upstream.NotDispatched)
		r.stop()
		return
	case head.Headers:
		r.proxy.abandon(task, errHeadersGone, upstream.NotDispatched)
		r.stop()
		return
	}
	r.recovered = true
	r.adopt(task)
	r.log.Info().Msg("a task that an earlier process had stored goes on")
	if r.cleared {
		r.start()
	} else {
		r.gate()
	}
}

// policyOf is what the task's policy was when it was made.
func (p *Proxy) policyOf(task taskstate.Task, approve Approve) Policy {
	return Policy{
		Task: Always, TTL: task.TTL, PollInterval: task.PollInterval, MaxRun: task.MaxRun, Stall: task.Stall,
		InputTimeout: p.opts.Policies.For(task.Tool).InputTimeout, Approve: approve,
	}
}
