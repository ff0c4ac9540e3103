package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// store makes the call a task and answers the host with its handle: only once
// the task is durable (Tasks extension, Task Creation). A host that cancelled
// in the meantime gets no answer, and the task ends as cancelled.
func (r *run) store(sent bool) error {
	task, err := r.proxy.opts.Tasks.store.Create(r.ctx, r.record(sent))
	if err != nil {
		r.unstored(err)
		return err
	}
	r.disarm()
	r.inputs.areShown()
	r.askByTask()
	r.adopt(task)
	r.log().Info().Bool("sent", sent).Msg("the call is a task now")
	given := r.req.ReplyTask(task)
	r.forgetHost()
	if !given {
		if _, err := r.proxy.cancel(task.ID); err != nil {
			r.log().Error().Err(err).Msg("a task that nobody knows of could not be cancelled")
		}
	}
	return nil
}

// unstored logs what becomes of a call that the store does not take.
func (r *run) unstored(err error) {
	if r.req.AtOnce {
		r.log().Error().Err(err).Msg("the call could not be stored as a task, and is refused: its client takes nothing else")
		return
	}
	r.log().Warn().Err(err).Msg("the call could not be stored as a task: it is waited for instead")
}

// forgetHost lets go of what only an answer needs. What the server was sent stays: it
// may have to be repeated.
func (r *run) forgetHost() {
	r.mu.Lock()
	defer r.mu.Unlock()
	req := *r.req
	req.Reply, req.ReplyTask, req.Aside, req.Message, r.threshold = nil, nil, nil, wire.Message{}, nil
	if !req.ProgressLasts {
		req.Progress = nil
	}
	r.req = &req
}

// adopt makes the run a task's: from here on progress goes to the task, and
// tasks/cancel and tasks/update find it.
func (r *run) adopt(task taskstate.Task) {
	r.mu.Lock()
	r.taskID, r.created, r.open = task.ID, task.CreatedAt, false
	early, status := r.early, r.earlyStatus
	r.mu.Unlock()
	if status != "" {
		r.proxy.opts.Tasks.store.Touch(task.ID, short(status), nil)
	}
	if early != nil {
		r.touch(early)
	}
	r.proxy.opts.Tasks.add(r)
	r.countAsTask()
	if !r.places.waiting {
		r.limit()
	}
}

// limit starts the clocks of the task's own limits, once. To wait for one's turn is
// not to run.
func (r *run) limit() {
	if r.taskID == "" || r.limited {
		return
	}
	r.limited = true
	if d := r.policy.MaxRun; d > 0 {
		r.maxRun = time.AfterFunc(r.rest(d), func() { r.end(tooLong(d)) })
	}
	if d := r.policy.Stall; d > 0 {
		r.mu.Lock()
		r.stall = time.AfterFunc(d, func() { r.end(r.stalled()) })
		r.mu.Unlock()
	}
	r.watch()
}

// watch runs the clock for a silent server, or has it rest: while the server
// waits for us, or has nothing to do.
func (r *run) watch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stall == nil {
		return
	}
	r.waited = r.sent && len(r.inputs.open) == 0
	r.aliveLocked()
	if !r.waited {
		r.stall.Stop()
	}
}

// aliveLocked takes a sign of life from the server.
func (r *run) aliveLocked() {
	if r.stall != nil && r.waited {
		r.stall.Reset(r.policy.Stall)
	}
}

// start sends a stored call: the server is there first, then the mark that the
// call was dispatched is durable, then the call leaves. A crash in between
// leaves a task that may or may not have run, never one that runs twice.
func (r *run) start() {
	r.connect(func(err error) {
		if err == nil {
			err = r.proxy.opts.Tasks.store.MarkDispatched(r.ctx, r.taskID)
		}
		switch {
		case r.ctx.Err() != nil: // which is for giveUp to see to
		case err == nil:
			r.dispatch()
		default:
			r.finish(abandoned(err, upstream.NotDispatched))
			r.stop()
		}
	})
}

// publish has the task show these questions, and no others. It is a conditional
// write: a task that has ended meanwhile is asked nothing, and its run ends. What
// the disk refuses is tried again.
func (r *run) publish(open []*input) error {
	err := r.proxy.opts.Tasks.store.SetInputs(context.Background(), r.taskID, inputRequests(open))
	switch {
	case err == nil:
		r.inputs.open = open
		r.inputs.areShown()
	case errors.Is(err, taskstate.ErrFinished):
		r.proxy.opts.Tasks.remove(r.taskID)
		r.leave(because("the task has ended"))
	default:
		r.log().Error().Err(err).Msg("the questions of a task could not be stored")
		r.publishLater()
	}
	r.watch()
	return err
}

func (r *run) publishLater() {
	if r.republish == nil {
		r.republish = r.later(publishAgain, func() {
			r.republish = nil
			_ = r.publish(r.inputs.open)
		})
	}
}

const publishAgain = time.Second
