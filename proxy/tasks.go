package proxy

import (
	"context"
	"errors"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Task returns an owner's task as it stands. Another owner's does not exist:
// the error is taskstate.ErrNotFound.
func (p *Proxy) Task(owner, id string) (taskstate.Task, error) {
	task, err := p.opts.Tasks.store.Get(id)
	if err == nil && task.Owner != owner {
		err = taskstate.ErrNotFound
	}
	if err != nil {
		return taskstate.Task{}, err
	}
	return task, nil
}

// CancelTask ends a task at once, whatever the server goes on to do, and tells
// the server. A task that has ended already stays as it is, without an error
// (Tasks extension, Task Cancellation).
func (p *Proxy) CancelTask(owner, id string) error {
	if _, err := p.Task(owner, id); err != nil {
		return err
	}
	return p.cancel(id)
}

func (p *Proxy) cancel(id string) error {
	_, err := p.opts.Tasks.store.Finish(context.Background(), id, abandoned(errCancelled, upstream.Unknown))
	if err != nil && !errors.Is(err, taskstate.ErrFinished) {
		return err
	}
	if r := p.opts.Tasks.runOf(id); r != nil && err == nil {
		r.end(errCancelled)
	}
	return nil
}

// UpdateTask takes a host's inputResponses: an object. It waits for the disk: the
// next [Proxy.Task] shows that what was answered is not asked any more, and the
// server gets the answers. Those to what is not asked are ignored (Tasks
// extension, Task Update Requests). The error is taskstate.ErrNotFound as for
// Task, or says why the answers were not taken: then they can be given again.
func (p *Proxy) UpdateTask(owner, id string, responses []byte) error {
	if _, err := p.Task(owner, id); err != nil {
		return err
	}
	r, taken := p.opts.Tasks.runOf(id), make(chan error, 1)
	if r == nil || !r.post(func() { taken <- r.update(responses) }) {
		return nil
	}
	select {
	case err := <-taken:
		return err
	case <-r.done:
		return nil
	}
}

// update shows the task without the questions before their answers go out: one
// that has ended meanwhile gives none.
func (r *run) update(responses []byte) error {
	answers := r.inputs.match(responses)
	if len(answers) == 0 {
		r.log.Info().Int("open", len(r.inputs.open)).Msg("a client has answered nothing that is asked (unknown keys, or no objects): ignored")
		return nil
	}
	if err := r.publish(r.inputs.without(inputsOf(answers)...)); err != nil {
		if errors.Is(err, taskstate.ErrFinished) {
			return nil
		}
		return err
	}
	r.give(answers)
	return nil
}

// Watch follows an owner's task; see [taskstate.Store.Watch]. The caller closes
// it. The error is that of Task.
func (p *Proxy) Watch(owner, id string) (*taskstate.Watch, error) {
	if _, err := p.Task(owner, id); err != nil {
		return nil, err
	}
	return p.opts.Tasks.store.Watch(id)
}
