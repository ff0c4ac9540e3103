package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// job is a call of one of the fallback's tools.
type job struct {
	id    string
	ctx   context.Context
	reply func(wire.Message) bool
	// attend has the host asked what the task asks, until leave is called; nil
	// where it cannot be. For a host that can only be asked by an answer, ask is
	// that, if there is something to ask it, and answers are what it has come back
	// with; they may be nil.
	attend  func(t taskstate.Task) (leave func())
	ask     func(t taskstate.Task) (answered bool)
	answers []byte
}

// serve answers a call of one of our tools. A host that cancels it stops waiting;
// the task goes on.
func (f *fallback) serve(x exchange, j job) canceller {
	id, ok := wire.String(wire.Lookup(x.request.Params(), "arguments", "task_id"))
	if !ok {
		j.reply(refuseTicket("The argument task_id is required: the id that the answer to the slow call named."))
		return nil
	}
	j.id = id
	ctx, cancel := context.WithCancel(f.ctx)
	j.ctx = ctx
	spawned := f.spawn(func() {
		defer cancel()
		f.serves[toolOf(x.request)](&j)
	})
	if !spawned {
		cancel()
		x.fail(shuttingDown())
	}
	return stopping(cancel, upstream.NotDispatched)
}

// result waits for the end of the task, and gives what the call itself would have
// been answered with.
func (f *fallback) result(j *job) {
	if wire.IsObject(j.answers) {
		if err := f.Proxy.UpdateTask(f.owner, j.id, j.answers); err != nil {
			j.reply(f.refusedJob(err, j.id))
			return
		}
	}
	watch, err := f.Proxy.Watch(f.owner, j.id)
	if err != nil {
		j.reply(f.refusedJob(err, j.id))
		return
	}
	defer watch.Close()
	f.await(j, watch)
}

func (f *fallback) await(j *job, watch *taskstate.Watch) {
	ctx, cancel := context.WithTimeout(j.ctx, f.Fallback.Wait)
	defer cancel()
	task, err := watch.Next(ctx)
	if err == nil && j.attend != nil && !task.Status.Terminal() {
		defer j.attend(task)()
	}
	last := task
	for ; err == nil; task, err = watch.Next(ctx) {
		switch last = task; {
		case task.Status.Terminal():
			j.reply(outcome(task))
			return
		case task.Status == taskstate.InputRequired && j.ask != nil && j.ask(task):
			return
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		j.reply(f.say(last, f.progress(last, "It is not done yet: call "+f.Fallback.Result+" again.")))
	} else {
		j.reply(refuseTicket("The proxy is shutting down. The task itself is not affected by this call: call %s again in a moment.", f.Fallback.Result))
	}
}

// outcome is what the call would have been answered with.
func outcome(t taskstate.Task) wire.Message {
	switch t.Status {
	case taskstate.Completed:
		return wire.Result(noID, t.Outcome)
	case taskstate.Failed:
		return wire.Failure(noID, shuttingDown()).With(wire.Changes{Err: t.Outcome})
	}
	return refuseTicket("The task %s of %s was cancelled. %s", t.ID, t.Tool, t.StatusMessage)
}

func (f *fallback) status(j *job) {
	task, err := f.Proxy.Task(f.owner, j.id)
	switch {
	case err != nil:
		j.reply(f.refusedJob(err, j.id))
	case task.Status.Terminal() && task.Status != taskstate.Cancelled:
		j.reply(f.say(task, f.progress(task, "Get the result with "+f.Fallback.Result+".")))
	default:
		j.reply(f.say(task, f.progress(task, "")))
	}
}

func (f *fallback) cancel(j *job) {
	ended, err := f.Proxy.CancelTask(f.owner, j.id)
	if err != nil {
		j.reply(f.refusedJob(err, j.id))
		return
	}
	task, err := f.Proxy.Task(f.owner, j.id)
	switch {
	case err != nil:
		j.reply(f.refusedJob(err, j.id))
	case ended && !task.Dispatched:
		j.reply(f.say(task, f.progress(task, "It had not been sent to the server, and will not be.")))
	case ended:
		j.reply(f.say(task, f.progress(task, "The server was told; what it had done by then is done.")))
	case task.Status == taskstate.Cancelled:
		j.reply(f.say(task, f.progress(task, "It had been cancelled before.")))
	default:
		j.reply(f.say(task, f.progress(task, "It had ended before, and was not cancelled. Get the result with "+f.Fallback.Result+".")))
	}
}

// progress says where the task stands.
func (f *fallback) progress(t taskstate.Task, more string) string {
	text := fmt.Sprintf("Task %s of %s: %s", t.ID, t.Tool, t.Status)
	if t.StatusMessage != "" {
		text += " (" + t.StatusMessage + ")"
	}
	text += fmt.Sprintf(", begun %v ago, last change %v ago.", since(t.CreatedAt), since(t.UpdatedAt))
	return strings.TrimSpace(text + " " + more)
}

func since(t time.Time) time.Duration { return max(time.Since(t), 0).Round(time.Second) }

func (f *fallback) refusedJob(err error, id string) wire.Message {
	if errors.Is(err, taskstate.ErrNotFound) {
		return refuseTicket("There is no task %.100q: the id is wrong, or its result is not kept any more.", id)
	}
	return wire.Failure(noID, f.taskError(err, id))
}
