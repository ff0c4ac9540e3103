package proxy

import (
	"context"
	"errors"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// finish writes the task's end, once and for good: the first terminal state
// wins, and whoever comes second is told so and dropped. The context is none
// that could end with what ended the task.
func (r *run) finish(o taskstate.Outcome) {
	defer r.proxy.opts.Tasks.remove(r.taskID)
	if o.StatusMessage == "" {
		o.StatusMessage = r.remark
	}
	switch task, err := r.writeEnd(o); {
	case errors.Is(err, taskstate.ErrFinished):
		if task.Status != o.Status {
			r.log().Info().Str("status", string(task.Status)).Str("dropped", string(o.Status)).Msg("a late end of a task was dropped")
		}
	case err != nil:
		r.log().Error().Err(err).Msg("the end of a task could not be written")
	default:
		reason, _ := wire.String(wire.Lookup(task.Outcome, "data", "reason"))
		r.log().Info().Str("status", string(task.Status)).Str("reason", reason).Msg("task ended")
	}
}

// writeEnd keeps less of what is too large, or has it fail the task, and say why.
func (r *run) writeEnd(whole taskstate.Outcome) (taskstate.Task, error) {
	o := r.fit(whole)
	task, err := r.write(o)
	var full *taskstate.LimitError
	switch {
	case errors.Is(err, taskstate.ErrTooLarge):
		return r.write(failed(errOutcomeTooLarge(len(o.Payload))))
	case errors.As(err, &full):
		return r.writeLess(whole, full)
	}
	return task, err
}

func (r *run) write(o taskstate.Outcome) (taskstate.Task, error) {
	return r.proxy.opts.Tasks.store.Finish(context.Background(), r.taskID, o)
}

// writeLess keeps of a result what the store has room for; that changes while it is
// tried.
func (r *run) writeLess(whole taskstate.Outcome, full *taskstate.LimitError) (taskstate.Task, error) {
	size := len(whole.Payload)
	r.log().Warn().Err(full).Int("bytes", size).Msg("there is no room for the whole of a result, whose beginning is kept")
	room := max(int(full.Value-full.Used)-2*leastKept, 3*leastKept) // with what the store keeps beside it
	for most := min(room, r.proxy.opts.Limits.mostOf(size)); whole.Status == taskstate.Completed && most >= leastKept; most /= 2 {
		task, err := r.write(truncated(whole, most, whyFull(size, full)))
		if !errors.Is(err, taskstate.ErrFull) {
			return task, err
		}
	}
	return r.write(failed(errUnkept(full, size)))
}

// leastKept of a result, in bytes, is worth being kept with what says that it was cut.
// The store takes an end of four times that however full it is.
const leastKept = 1000

// outcomeOf is what an answer makes of a task. A result completes it, also one
// that says isError; an error fails it (Tasks extension, Task Status).
func outcomeOf(a answer) taskstate.Outcome {
	switch {
	case a.err != nil:
		return failed(a.err.Wire())
	case wire.IsObject(a.message.Err()):
		text, _ := wire.String(wire.Get(a.message.Err(), "message"))
		return taskstate.Outcome{Status: taskstate.Failed, StatusMessage: short(text), Payload: a.message.Err()}
	}
	if !wire.IsObject(a.message.Result()) {
		return failed(errResultType("no object"))
	}
	if kind, _ := wire.String(wire.Get(a.message.Result(), "resultType")); kind != "" && kind != "complete" {
		return failed(errResultType(kind))
	}
	o := taskstate.Outcome{Status: taskstate.Completed, Payload: a.message.Result()}
	if string(wire.Get(o.Payload, "isError")) == "true" {
		o.IsError, o.StatusMessage = true, short(FirstText(o.Payload))
	}
	return o
}

// FirstText is what a result of a tool says first in words; empty for none.
func FirstText(result []byte) string {
	for _, content := range wire.Elements(wire.Get(result, "content")) {
		if text, ok := wire.String(wire.Get(content, "text")); ok {
			return text
		}
	}
	return ""
}

func failed(e *wire.Error) taskstate.Outcome {
	return taskstate.Outcome{Status: taskstate.Failed, StatusMessage: short(e.Message), Payload: e.JSON()}
}

// abandoned is the outcome of a task that ended before its answer came.
func abandoned(cause error, outcome upstream.Outcome) taskstate.Outcome {
	if errors.Is(cause, errCancelled) || errors.Is(cause, taskstate.ErrFinished) {
		return taskstate.Outcome{Status: taskstate.Cancelled, StatusMessage: errCancelled.Error()}
	}
	return failed(wireError(cause, outcome))
}

// short keeps a statusMessage to what people and models read.
func short(text string) string { return Shorten(text, 1000) }

// Shorten keeps the beginning of a text, up to most bytes, and marks where it is cut.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return cutText(text, most) + "…"
}
