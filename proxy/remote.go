package proxy

import (
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// taskWish has a server that makes tasks itself make one of a call that may be a
// task here. Package upstream follows it; to the run it is a call like any other,
// which can be taken up again by a later process where the server outlives this
// one.
func (r *run) taskWish() *upstream.TaskWish {
	if r.policy.NoUpstreamTasks || !r.mayBecomeTask() && r.taskID == "" {
		return nil
	}
	return &upstream.TaskWish{TTL: r.policy.MaxRun, Made: r.made, Status: r.status}
}

// made takes the server's word that it has made a task. It waits until that is
// stored, if the call is a task here.
func (r *run) made(ref []byte) {
	if !upstream.Resumable(r.proxy.opts.Upstream) {
		return
	}
	done := make(chan struct{})
	if !r.post(func() { r.remember(ref); close(done) }) {
		return
	}
	select {
	case <-done:
	case <-r.done:
	}
}

// remember has the call found again after a restart.
func (r *run) remember(ref []byte) {
	remote := r.head().encode(ref)
	err := error(taskstate.ErrTooLarge)
	if len(remote) <= maxRemote {
		err = r.keepRemote(remote)
	}
	switch {
	case err == nil:
		r.remote = remote
	case !errors.Is(err, taskstate.ErrFinished) && r.ctx.Err() == nil:
		r.log().Error().Err(err).Msg("it could not be stored where the server keeps its task: a restart would lose it")
	}
}

// keepRemote leaves it to store, where there is no task yet.
func (r *run) keepRemote(remote []byte) error {
	if r.taskID == "" {
		return nil
	}
	return r.proxy.opts.Tasks.store.SetRemote(r.ctx, r.taskID, remote)
}

// maxRemote is what a store takes.
const maxRemote = 64 << 10

// status takes what the server's own task says of itself; nothing is a mere sign
// of life.
func (r *run) status(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.goesOnLocked():
		return
	case message == "":
	case r.taskID == "":
		r.earlyStatus = message
	default:
		r.proxy.opts.Tasks.store.Touch(r.taskID, short(message), nil)
	}
	r.aliveLocked()
}

// goesOn says that a later process can take the task up: it was never sent, or the
// server keeps it.
func (r *run) goesOn() bool { return r.taskID != "" && (!r.sent || r.remote != nil) }

// handOver leaves the task to a later process. The server hears nothing of that,
// and goes on.
func (r *run) handOver() {
	r.proxy.opts.Tasks.remove(r.taskID)
	for _, in := range r.inputs.open {
		in.end()
	}
	r.inputs.open = nil
	r.stop()
}

// takeUpRemote follows a task that the server keeps.
func (p *Proxy) takeUpRemote(task taskstate.Task, dial func(string, upstream.Caller) *upstream.Client) {
	head, ref, err := decodeHead(task.Remote)
	params := wire.Set(nil, "name", wire.Quote(task.Tool))
	req := &Request{
		Message: wire.Request(0, "tools/call", params), Caller: head.Caller, Upstream: dial(task.Owner, head.Caller), Owner: task.Owner, Tasks: true,
	}
	r := p.newRun(req, task.Tool, p.policyOf(task, ApproveNever))
	r.post(func() { r.follow(task, head, ref, err) })
}

func (r *run) follow(task taskstate.Task, head storedHead, ref []byte, unreadable error) {
	switch {
	case unreadable != nil:
		r.abandon(task, errRestarted, upstream.Unknown)
		return
	case head.Headers:
		r.abandon(task, errFollowHeadersGone, upstream.Unknown)
		return
	}
	r.recovered, r.sent, r.remote = true, true, task.Remote
	if r.proxy.opts.Tasks.hasEnded(task.ID) { // while nobody could tell the server
		r.client.Resume(r.up, ref)
		r.withdraw(because("the task has ended"))
		r.stop()
		return
	}
	r.inputs.mark = strings.ToLower(rand.Text()[:8]) + "-"
	r.adopt(task)
	if task.Status == taskstate.InputRequired && r.publish(nil) != nil && !r.isPending() {
		return // it has ended meanwhile
	}
	r.log().Info().Msg("a task that the server keeps is followed again")
	r.client.Resume(r.up, ref)
}

// rest is how much of max_run is left when its clock starts. What the server keeps
// has been at work all the time, and may be done since long: there is time to find
// that out.
func (r *run) rest(maxRun time.Duration) time.Duration {
	if r.recovered && r.remote != nil {
		return restOf(r.created, maxRun)
	}
	return maxRun
}

// restOf is no more than that, whatever the clock says.
func restOf(created time.Time, maxRun time.Duration) time.Duration {
	return min(max(time.Until(created.Add(maxRun)), followWait), max(maxRun, followWait))
}

const followWait = time.Minute
