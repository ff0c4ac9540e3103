package proxy

import (
	"context"
	"errors"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// conclude gives the end of the call to whoever waits for it; one who is yet to
// come back finds it then. What is still asked has become moot, though the server
// may wait for it.
func (r *run) conclude(a answer) {
	if a.err != nil && r.remote != nil && r.goesOn() && errors.Is(context.Cause(r.ctx), errShutdown) {
		r.handOver() // it is the proxy that has come to its end, and with it the session
		return
	}
	r.inputs.decline()
	switch {
	case r.taskID != "":
		r.finish(outcomeOf(a))
		r.stop()
	case r.hold == nil:
		r.reply(a.response())
		r.stop()
	default:
		r.leavePlaces() // the server has done its work
		r.keepFor(r.hold, a)
	}
}

// reply answers the host's request, and reports whether the host gets it.
func (r *run) reply(m wire.Message) bool {
	r.disarm()
	r.mu.Lock()
	r.open = false
	r.mu.Unlock()
	return r.req.Reply(m)
}

// cancelledBy is for the host's notice that it does not wait for req any more.
// Once the call is a task that changes nothing (Tasks extension, Task
// Cancellation: it is not for notifications/cancelled to cancel a task).
func (r *run) cancelledBy(req *Request) func(notice wire.Message) {
	return func(notice wire.Message) {
		if r.endQuick() {
			r.withdraw(notice)
			r.over()
			return
		}
		r.post(func() {
			if r.open && r.req == req {
				r.leave(notice)
			}
		})
	}
}

// leave ends a call that nobody waits for any more.
func (r *run) leave(notice wire.Message) {
	r.disarm()
	if r.hold != nil {
		r.proxy.takeHold(r.hold.id)
	}
	r.withdraw(notice) // with it goes what was another call's question after all
	r.inputs.decline()
	r.stop()
}

// giveUp ends the run without the server's answer. The server is told: that is
// all the protocol has to stop it. What the next process can take up is left to
// it.
func (r *run) giveUp(cause error) {
	switch {
	case r.goesOn() && errors.Is(cause, errShutdown):
		r.handOver()
		return
	case r.taskID != "":
		r.finish(abandoned(cause, r.outcome()))
	case r.open:
		r.reply(wire.Failure(noID, wireError(cause, r.outcome())))
	}
	r.leave(because(cause.Error()))
}

// because is a notice of ours that a call is not waited for any more.
func because(reason string) (notice wire.Message) {
	return wire.Notification("notifications/cancelled", wire.Set(nil, "reason", wire.Quote(reason)))
}

// outcome is what is known of the work while there is no answer.
func (r *run) outcome() upstream.Outcome {
	if r.sent {
		return upstream.Unknown
	}
	return upstream.NotDispatched
}
