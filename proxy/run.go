package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// run is the life of one request in which the server may ask something, or
// which may become a task. A quick one ends where its answer comes in. Any
// other has a goroutine whenever there is something to do, and everything that
// concerns it happens on that (post); the proxy waits for its end.
//
// Whoever made the request is in one of three places: waiting for its answer
// (open), holding the handle of a task, or gone with a question, to come back
// with the answer (hold).
type run struct {
	proxy   *Proxy
	client  *upstream.Client
	owner   string
	tool    string // empty for what is no tools/call
	policy  Policy
	message wire.Message // as the server gets it, but for answers to its questions

	// Set when the run is pending. ctx ends with the cause for which the run
	// must end before its answer.
	ctx       context.Context
	end       context.CancelCauseFunc
	unwatch   func() bool   // has nobody wait for the end of ctx
	done      chan struct{} // closed when the run has ended
	release   func()        // of the upstream session, which the run keeps
	elsewhere sync.WaitGroup

	mu          sync.Mutex // also held while progress goes to the host
	stage       stage
	mail        []letter
	reading     bool     // there is a goroutine
	queued      int      // questions in the mail
	queuedBytes int      // in them
	flooded     bool     // it was logged that the server asks too much
	req         *Request // the host's newest
	open        bool     // it waits for its answer
	early       []byte   // the newest progress from before the task
	earlyStatus string   // likewise, of the server's own task
	taskID      string   // empty for a call that is none
	created     time.Time
	stall       *time.Timer // nil where there is no such limit
	waited      bool        // the server is at work, and not to be silent for too long
	beats       beats

	// Of the run's goroutine, and of Handle before there is one.
	up          *upstream.Request
	threshold   *time.Timer // of an open call that may become a task
	maxRun      *time.Timer // of a task
	limited     bool        // the clocks of its limits run
	republish   *time.Timer // nil unless the disk has refused the task's questions
	places      places
	cleared     bool // the call may be sent: nobody has to confirm it any more
	recovered   bool // the task is an earlier process's
	sent        bool // the server may know of the call
	heard       bool // the server has got an answer to a question before the task
	inputs      inputs
	unpresented bool   // there are inputs that the host has not been shown
	round       *round // of questions that came as a result; nil for none
	rounds      int
	pause       time.Duration // before the call was last repeated without a question
	hold        *hold         // nil while nobody is expected back
	remark      string        // for the statusMessage of a task that completes
	remote      []byte        // where the server keeps a task of its own, as it is stored; nil for none

	held *hold // the newest; under Proxy.mu
}

// log is built when it is needed: most runs have nothing to say.
func (r *run) log() *zerolog.Logger {
	with := r.proxy.opts.Log.With().Str("tool", r.tool[:min(len(r.tool), 100)])
	if r.taskID != "" {
		with = with.Str("task", r.taskID)
	}
	log := with.Logger()
	return &log
}

// stage says who takes the answer.
type stage int

const (
	quick   stage = iota // the upstream session's own goroutine, at once
	pending              // the run's goroutine
	ended                // nobody
)

// answer is what a call has come to.
type answer struct {
	message wire.Message
	err     *upstream.Error
}

func (a answer) response() wire.Message {
	if a.err != nil {
		return wire.Failure(noID, a.err.Wire())
	}
	return a.message
}

func failure(err *wire.Error) answer { return answer{message: wire.Failure(noID, err)} }

func (p *Proxy) newRun(req *Request, tool string, policy Policy) *run {
	r := &run{
		proxy: p, client: req.Upstream, owner: req.Owner, tool: tool, policy: policy, message: req.Message, req: req, open: req.Reply != nil,
		cleared: !policy.gated(),
	}
	switch {
	case !req.retries():
	case r.cleared:
		r.heard = wire.Get(req.Message.Params(), keyResponses) != nil
	default: // what a server has asked of this call, it has asked us
		r.message = req.Message.With(wire.Changes{Params: wire.Delete(req.Message.Params(), keyResponses, keyState)})
	}
	r.address(r.message)
	return r
}

// address makes m the message that dispatch sends. The server is asked for
// progress where somebody has a use for it.
func (r *run) address(m wire.Message) {
	req := r.req
	r.up = &upstream.Request{
		Message: m, Caller: req.Caller, Header: req.Header, Aside: r.aside, Ask: r.ask, Inward: req.AtOnce || r.policy.fallsBack(req), Reply: r.answer,
		NoTask: r.policy.NoUpstreamTasks, Task: r.taskWish(),
	}
	if req.Progress != nil || r.mayBecomeTask() || r.taskID != "" {
		r.up.Notify = r.progress
	} else if rest := wire.DeleteIn(m.Params(), "_meta", "progressToken"); len(rest) != len(m.Params()) {
		r.up.Message = m.With(wire.Changes{Params: rest}) // an earlier request's token would be taken for one of ours
	}
	if req.Ask != nil && !r.policy.fallsBack(req) {
		r.up.Ask = req.pass()
	}
}

func (r *run) dispatch() {
	r.sent = true
	r.limit()
	r.watch()
	r.client.Send(r.up)
}

// withdraw tells the server that its answer is not wanted any more. What it returns
// is known of the work.
func (r *run) withdraw(notice wire.Message) upstream.Outcome {
	_, work := r.client.TakeBack(r.up, notice)
	switch {
	case !r.sent:
		return upstream.NotDispatched
	case r.rounds > 0: // it was written before, with fewer answers
		return upstream.Unknown
	}
	return work
}

// answer takes the server's answer, on the goroutine that reads from it.
func (r *run) answer(m wire.Message, err *upstream.Error) {
	a, then := answer{m, err}, r.conclude
	if r.isInterim(a) {
		then = r.inputRequired
	} else if r.endQuick() {
		r.req.Reply(a.response())
		r.over()
		return
	}
	r.post(func() { then(a) }) // unless the host has cancelled in the meantime
}
