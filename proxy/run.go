package proxy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// run is the life of one tools/call that is or may become a task. A quick one
// ends where its answer comes in; any other has a goroutine, which the proxy
// waits for.
type run struct {
	proxy  *Proxy
	req    *Request
	tool   string
	policy Policy
	up     *upstream.Request
	log    zerolog.Logger

	threshold *time.Timer // of a quick call

	// Set when the run is pending. ctx ends with the cause for which the task
	// must end before its answer.
	ctx           context.Context
	end           context.CancelCauseFunc
	answered      chan answer       // one, from the upstream session
	hostCancelled chan wire.Message // one, while the call is no task
	alive         chan struct{}     // signs of life from the server
	release       func()            // of the upstream session, which the run keeps

	mu    sync.Mutex // also held while progress goes to the host
	stage stage
	early []byte         // the newest progress from before the task
	task  taskstate.Task // as it was stored; zero while the call is no task
}

// stage says who takes the answer.
type stage int

const (
	quick   stage = iota // the upstream session's own goroutine, at once
	pending              // the run's goroutine
	ended                // nobody
)

type answer struct {
	message wire.Message
	err     *upstream.Error
}

func (p *Proxy) newRun(req *Request, tool string, policy Policy) *run {
	r := &run{proxy: p, req: req, tool: tool, policy: policy}
	r.up = &upstream.Request{
		Message: req.Message, Caller: req.Caller, Header: req.Header,
		Notify: r.progress, Aside: r.aside, Ask: req.Ask, Reply: r.answer,
	}
	return r
}

// leaveQuick moves a quick call on, once: it reports whether it was quick.
func (r *run) leaveQuick(next stage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stage != quick {
		return false
	}
	if r.stage = next; next == pending {
		r.log = r.proxy.opts.Log.With().Str("tool", r.tool).Logger()
		r.answered, r.hostCancelled, r.alive = make(chan answer, 1), make(chan wire.Message, 1), make(chan struct{}, 1)
		r.ctx, r.end = context.WithCancelCause(r.proxy.ctx)
		r.release = r.req.Upstream.Keep()
	}
	return true
}

// begin runs the life of a call that was never quick. The proxy's work has
// been counted up for it.
func (r *run) begin(life func()) {
	r.leaveQuick(pending)
	go func() {
		defer r.over()
		life()
	}()
}

func (r *run) over() {
	if r.end != nil {
		r.end(nil)
		r.release()
	}
	r.proxy.work.Done()
}

func (r *run) dispatch() { r.req.Upstream.Send(r.up) }

// answer takes the server's answer, on the goroutine that reads from it.
func (r *run) answer(m wire.Message, err *upstream.Error) {
	if r.leaveQuick(ended) {
		r.threshold.Stop()
		r.req.Reply(response(m, err))
		r.over()
		return
	}
	if r.isPending() { // else the host has cancelled in the meantime
		r.answered <- answer{m, err}
	}
}

func (r *run) isPending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stage == pending
}

// cancelledByHost may be called at any time; once the call is a task nobody
// reads the channel any more (Tasks extension, Task Cancellation: it is not
// for notifications/cancelled to cancel a task).
func (r *run) cancelledByHost(notice wire.Message) {
	if r.leaveQuick(ended) {
		r.threshold.Stop()
		r.withdraw(notice)
		r.over()
		return
	}
	if !r.isPending() {
		return
	}
	select {
	case r.hostCancelled <- notice:
	default:
	}
}

// withdraw tells the server that its answer is not wanted any more.
func (r *run) withdraw(notice wire.Message) { r.req.Upstream.Cancel(r.up, notice) }

// adopt makes the run a task's: from here on progress goes to the task, and
// tasks/cancel finds it.
func (r *run) adopt(task taskstate.Task) {
	r.mu.Lock()
	r.task = task
	early := r.early
	r.mu.Unlock()
	if early != nil {
		r.touch(early)
	}
	r.log = r.log.With().Str("task", task.ID).Logger()
	r.proxy.mu.Lock()
	r.proxy.running[task.ID] = r
	r.proxy.mu.Unlock()
}

// start sends a stored call: the server is there first, then the mark that the
// call was dispatched is durable, then the call leaves. A crash in between
// leaves a task that may or may not have run, never one that runs twice.
func (r *run) start() {
	ctx, cancel := r.limited()
	defer cancel()
	_, err := r.req.Upstream.Connect(ctx)
	if err == nil {
		err = r.proxy.opts.Store.MarkDispatched(ctx, r.task.ID)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	switch {
	case err == nil:
		r.dispatch()
		r.work()
	case errors.Is(err, errShutdown):
		r.proxy.forget(r.task.ID) // it was not sent: the next process may
	default:
		r.finish(undelivered(err))
	}
}

// limited is the run's context with the task's own limit on top.
func (r *run) limited() (context.Context, context.CancelFunc) {
	if r.policy.MaxRun <= 0 {
		return context.WithCancel(r.ctx)
	}
	return context.WithDeadlineCause(r.ctx, r.task.CreatedAt.Add(r.policy.MaxRun), tooLong(r.policy.MaxRun))
}

// work waits for what ends the task first.
func (r *run) work() {
	ctx, cancel := r.limited()
	defer cancel()
	stall := time.NewTimer(orNever(r.policy.Stall))
	defer stall.Stop()
	for {
		select {
		case a := <-r.answered:
			r.finish(outcomeOf(a))
			return
		case <-ctx.Done():
			r.giveUp(context.Cause(ctx))
			return
		case <-stall.C:
			r.end(r.stalled())
		case <-r.alive:
			stall.Reset(orNever(r.policy.Stall))
		}
	}
}

// giveUp ends a task without the server's answer. The server is told: that is
// all the protocol has to stop it.
func (r *run) giveUp(cause error) {
	r.finish(abandoned(cause))
	r.withdraw(wire.Notification("notifications/cancelled", wire.Set(nil, "reason", wire.Quote(cause.Error()))))
}

// orNever is for limits that may be off.
func orNever(d time.Duration) time.Duration {
	if d <= 0 {
		return 1<<63 - 1
	}
	return d
}
