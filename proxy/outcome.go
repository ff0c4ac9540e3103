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
	switch task, err := r.writeEnd(r.fit(o)); {
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

// writeEnd has what cannot be stored fail the task, and say why.
func (r *run) writeEnd(o taskstate.Outcome) (taskstate.Task, error) {
	write := func(o taskstate.Outcome) (taskstate.Task, error) {
		return r.proxy.opts.Tasks.store.Finish(context.Background(), r.taskID, o)
	}
	task, err := write(o)
	switch {
	case errors.Is(err, taskstate.ErrTooLarge):
		return write(failed(errOutcomeTooLarge(len(o.Payload))))
	case errors.Is(err, taskstate.ErrFull):
		return write(failed(errUnkept(err, len(o.Payload))))
	}
	return task, err
}

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
