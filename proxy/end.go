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
func (r *run) cancelledBy(req *Request) Cancel {
	return func(notice wire.Message, then func(upstream.Outcome)) {
		if r.endQuick() {
			work := r.withdraw(notice)
			r.over()
			tell(then, work)
			return
		}
		unknown := func() { tell(then, upstream.Unknown) }
		sent := r.send(letter{lost: unknown, do: func() {
			work := upstream.Unknown
			if r.open && r.req == req {
				work = r.leave(notice)
			}
			tell(then, work)
		}})
		if !sent {
			unknown()
		}
	}
}

func tell(then func(upstream.Outcome), work upstream.Outcome) {
	if then != nil {
		then(work)
	}
}

// leave ends a call that nobody waits for any more. What it returns is known of the
// work.
func (r *run) leave(notice wire.Message) upstream.Outcome {
	r.disarm()
	if r.hold != nil {
		r.proxy.takeHold(r.hold.id)
	}
	work := r.withdraw(notice) // with it goes what was another call's question after all
	r.inputs.decline()
	r.stop()
	return work
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
		work := r.withdraw(because(cause.Error())) // what waits for the server to start is not sent any more
		r.reply(wire.Failure(noID, wireError(cause, work)))
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
