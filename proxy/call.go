package proxy

import (
	"context"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Conversable reports whether a server may ask something in a request of that
// method (revision 2026-07-28, Multi Round-Trip Requests, Supported Requests).
func Conversable(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// call treats a tools/call as the tool's policy says. The Tasks extension
// leaves it to the server alone whether a call becomes a task, but only for a
// client that declared it on this request (Capability Negotiation).
func (p *Proxy) call(req *Request) Cancel {
	tool, policy := "", Policy{Task: Never, InputTimeout: p.opts.Policies.Default.InputTimeout}
	if req.Message.Method() == "tools/call" {
		tool, _ = wire.String(wire.Get(req.Message.Params(), "name"))
		policy = p.opts.Policies.For(tool)
	}
	if policy.Task == Required && !req.Tasks && !policy.fallsBack(req) {
		return refused(req, MissingTasks("Tool "+tool+" only runs as a task"))
	}
	raw, state, own := p.requestState(req)
	if own {
		return p.retry(req, state)
	}
	if !p.enter() {
		return refused(req, wireError(errShutdown, upstream.NotDispatched))
	}
	r := p.newRun(req, tool, policy)
	r.keepAlive()
	switch {
	case raw != nil:
		r.post(r.ascertain)
	case !r.cleared:
		r.post(r.gate)
	case r.atOnce():
		r.post(r.always)
	default:
		r.sendCall()
	}
	return r.cancelledBy(req)
}

// ascertain is for a requestState that only the server itself can have made: one of
// the initialize era makes none, and of a call that has to be confirmed the host
// gets none.
func (r *run) ascertain() {
	r.connect(func(err error) {
		desc, _ := r.client.Describe()
		switch {
		case err != nil:
			r.conclude(failure(wireError(err, upstream.NotDispatched)))
		case desc.Era == upstream.Initialize || !r.cleared:
			r.conclude(failure(errStateForged))
		default:
			r.proceed()
		}
	})
}

// connect waits for the server to be there.
func (r *run) connect(then func(error)) {
	r.apart(func(ctx context.Context) error {
		_, err := r.client.Connect(ctx)
		return err
	}, then)
}

func refused(req *Request, err *wire.Error) Cancel {
	req.Reply(wire.Failure(noID, err))
	return moot
}

// proceed sends the call, or makes it a task that is sent.
func (r *run) proceed() {
	switch {
	case r.taskID != "":
		r.sendInTurn()
	case r.atOnce():
		r.always()
	default:
		r.sendCall()
	}
}

// sendCall has the call on its way. It is waited for up to the threshold, on no
// goroutine at all: most calls are quick.
func (r *run) sendCall() {
	req, wait, limited := r.req, r.patience(), r.mayBecomeTask()
	r.sendInTurn()
	if limited {
		r.arm(req, wait)
	}
}

// mayBecomeTask says that the call is stored if it takes long, whatever the host
// calls that.
func (r *run) mayBecomeTask() bool {
	return r.takesTask() || r.policy.fallsBack(r.req)
}

// takesTask says that the host itself sees to the task then.
func (r *run) takesTask() bool { return r.req.Tasks && r.policy.Task != Never }

// atOnce says that the call is not waited for at all.
func (r *run) atOnce() bool {
	return r.takesTask() && (r.req.AtOnce || r.policy.Task != After && r.policy.Input != BeforeTask)
}

// patience is how long a call is waited for that may become a task. One that
// only waits for questions before it does so has to see their end.
func (r *run) patience() time.Duration {
	if !r.takesTask() {
		return r.policy.FallbackAfter
	}
	if r.policy.Task != After && r.heard {
		return min(r.policy.After, nextQuestion)
	}
	return r.policy.After
}

// nextQuestion is how soon a question follows the answer to another.
const nextQuestion = 250 * time.Millisecond

func (r *run) arm(req *Request, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open || r.req != req {
		return // it is answered already
	}
	if r.threshold != nil {
		r.threshold.Stop()
	}
	r.threshold = r.later(wait, func() {
		if r.open && r.req == req {
			r.overdue()
		}
	})
}

func (r *run) disarm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.threshold != nil {
		r.threshold.Stop()
	}
}

// overdue makes the call a task; where that cannot be stored it is waited for
// all the same.
func (r *run) overdue() {
	switch {
	case !r.cleared:
		_ = r.store(false) // what is waited for goes on
	case r.places.waiting:
		r.overdueInQueue()
	case r.rounds == 0 && r.client.Recall(r.up): // the server is still starting
		r.overdueUnsent()
	default:
		r.overdueSent()
	}
}

// always stores the task before the server hears of the call.
func (r *run) always() {
	switch placed, refused := r.place(true); {
	case refused != nil:
		r.conclude(failure(refused))
	case r.storeFirst() && placed:
		r.sendPlaced()
	}
}

// storeFirst makes a task of a call that is not sent yet. A host that takes
// nothing but a task gets an error if that cannot be stored, and the call goes on
// for others; it is false where the call has ended so.
func (r *run) storeFirst() (goesOn bool) {
	err := r.store(false)
	if err != nil && r.req.AtOnce {
		r.conclude(failure(wireError(err, upstream.NotDispatched)))
		return false
	}
	return true
}
