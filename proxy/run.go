package proxy

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// run is the life of one tools/call that is or may become a task. Its
// goroutine is the proxy's to wait for.
type run struct {
	proxy  *Proxy
	req    *Request
	tool   string
	policy Policy
	up     *upstream.Request
	log    zerolog.Logger

	// ctx ends with the cause for which the task must end before its answer.
	ctx context.Context
	end context.CancelCauseFunc

	answered      chan answer       // one, from the upstream session
	hostCancelled chan wire.Message // one, while the call is no task
	alive         chan struct{}     // signs of life from the server

	mu   sync.Mutex     // also held while progress goes to the host
	task taskstate.Task // as it was stored; zero while the call is no task
}

type answer struct {
	message wire.Message
	err     *upstream.Error
}

func (p *Proxy) newRun(req *Request, tool string, policy Policy) *run {
	r := &run{
		proxy: p, req: req, tool: tool, policy: policy,
		log:      p.opts.Log.With().Str("tool", tool).Logger(),
		answered: make(chan answer, 1), hostCancelled: make(chan wire.Message, 1), alive: make(chan struct{}, 1),
	}
	r.ctx, r.end = context.WithCancelCause(p.ctx)
	r.up = &upstream.Request{Message: req.Message, Caller: req.Caller, Notify: r.progress}
	r.up.Reply = func(m wire.Message, err *upstream.Error) { r.answered <- answer{m, err} }
	return r
}

// begin runs one of the run's lives on a goroutine of its own.
func (r *run) begin(life func()) {
	r.proxy.work.Go(func() {
		defer r.end(nil)
		life()
	})
}

func (r *run) dispatch() { r.req.Upstream.Send(r.up) }

// cancelledByHost may be called at any time; once the call is a task nobody
// reads the channel any more (Tasks extension, Task Cancellation: it is not
// for notifications/cancelled to cancel a task).
func (r *run) cancelledByHost(notice wire.Message) {
	select {
	case r.hostCancelled <- notice:
	default:
	}
}

// withdraw tells the server that its answer is not wanted any more.
func (r *run) withdraw(notice wire.Message) { r.req.Upstream.Cancel(r.up, notice) }

// record is the task as it is first stored. The request is kept only as long
// as it has not been sent.
func (r *run) record(dispatched bool) taskstate.Task {
	task := taskstate.Task{
		Owner: r.req.Owner, Upstream: r.proxy.opts.Identity, Tool: r.tool, Dispatched: dispatched,
		TTL: r.policy.TTL, PollInterval: r.policy.PollInterval, MaxRun: r.policy.MaxRun, Stall: r.policy.Stall,
	}
	if !dispatched {
		task.Request = storedRequest{r.req.Message.Raw(), r.req.Caller}.encode()
	}
	return task
}

// storedRequest is what it takes to send a call after a restart.
type storedRequest struct {
	Message []byte          `json:"message"`
	Caller  upstream.Caller `json:"caller"`
}

func (s storedRequest) encode() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // byte slices and booleans always have an encoding
	}
	return text
}

// adopt makes the run a task's: from here on progress goes to the task, and
// tasks/cancel finds it.
func (r *run) adopt(task taskstate.Task) {
	r.mu.Lock()
	r.task = task
	r.mu.Unlock()
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
	if _, err := r.req.Upstream.Connect(ctx); err != nil {
		r.finish(undelivered(err))
		return
	}
	if err := r.proxy.opts.Store.MarkDispatched(ctx, r.task.ID); err != nil {
		r.finish(undelivered(err))
		return
	}
	r.dispatch()
	r.work()
}

// limited is the run's context with the task's own limit on top.
func (r *run) limited() (context.Context, context.CancelFunc) {
	if r.policy.MaxRun <= 0 {
		return context.WithCancel(r.ctx)
	}
	return context.WithDeadlineCause(r.ctx, r.task.CreatedAt.Add(r.policy.MaxRun), r.tooLong())
}

// work waits for what ends the task first.
func (r *run) work() {
	ctx, cancel := r.limited()
	defer cancel()
	stall := newStallTimer(r.policy.Stall)
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
			stall.Reset(r.stallAfter())
		}
	}
}

// giveUp ends a task without the server's answer. The server is told: that is
// all the protocol has to stop it.
func (r *run) giveUp(cause error) {
	r.finish(abandoned(cause))
	r.withdraw(wire.Notification("notifications/cancelled", wire.Set(nil, "reason", wire.Quote(cause.Error()))))
}

const never = time.Duration(1<<63 - 1)

func (r *run) stallAfter() time.Duration {
	if r.policy.Stall <= 0 {
		return never
	}
	return r.policy.Stall
}

func newStallTimer(d time.Duration) *time.Timer {
	if d <= 0 {
		d = never
	}
	return time.NewTimer(d)
}
