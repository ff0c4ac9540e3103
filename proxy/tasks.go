package proxy

import (
	"context"
	"errors"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// Task returns an owner's task as it stands. Another owner's does not exist:
// the error is taskstate.ErrNotFound.
func (p *Proxy) Task(owner, id string) (taskstate.Task, error) {
	task, err := p.opts.Store.Get(id)
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
	_, err := p.opts.Store.Finish(context.Background(), id, abandoned(errCancelled))
	if err != nil && !errors.Is(err, taskstate.ErrFinished) {
		return err
	}
	p.mu.Lock()
	r := p.running[id]
	p.mu.Unlock()
	if r != nil && err == nil {
		r.end(errCancelled)
	}
	return nil
}
