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
	return p.opts.Tasks.store.GetOwned(owner, id)
}

// AtHand reports whether [Proxy.Task] does not wait for the disk: the task runs, or
// has just ended.
func (p *Proxy) AtHand(id string) bool { return p.opts.Tasks.store.InMemory(id) }

// ListTasks returns up to limit of an owner's tasks, newest first, without
// requests, inputs and outcomes; see [taskstate.Store.List].
func (p *Proxy) ListTasks(owner, cursor string, limit int) (tasks []taskstate.Task, next string, err error) {
	return p.opts.Tasks.store.List(owner, cursor, limit)
}

// CancelTask ends a task at once, whatever the server goes on to do, and tells
// the server. A task that has ended already stays as it is, without an error
// (Tasks extension, Task Cancellation): then ended is false.
func (p *Proxy) CancelTask(owner, id string) (ended bool, err error) {
	if _, err := p.Task(owner, id); err != nil {
		return false, err
	}
	return p.cancel(id)
}

func (p *Proxy) cancel(id string) (ended bool, err error) {
	_, err = p.opts.Tasks.store.Finish(context.Background(), id, abandoned(errCancelled, upstream.Unknown))
	if errors.Is(err, taskstate.ErrFinished) {
		return false, nil
	}
	if r := p.opts.Tasks.runOf(id); r != nil && err == nil {
		r.end(errCancelled)
	}
	return err == nil, err
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
	return p.opts.Tasks.await(id, func(r *run) error { return r.update(responses) })
}

// RefuseInput is for a client that does not answer one of the task's questions, or
// not with a result; why is a sentence. Whoever asked gets what stands for that:
// a form counts as declined. One that is not open is ignored. The error is that of
// UpdateTask.
func (p *Proxy) RefuseInput(owner, id, key, why string) error {
	if _, err := p.Task(owner, id); err != nil {
		return err
	}
	return p.opts.Tasks.await(id, func(r *run) error { return r.refuse(key, why) })
}

// await has f done on the goroutine of the task's run, if it has one.
func (t *Tasks) await(id string, f func(*run) error) error {
	r, done := t.runOf(id), make(chan error, 1)
	if r == nil || !r.post(func() { done <- f(r) }) {
		return nil
	}
	select {
	case err := <-done:
		return err
	case <-r.done:
		return nil
	}
}

func (r *run) refuse(key, why string) error {
	for _, in := range r.inputs.open {
		if in.key != key {
			continue
		}
		if r.close([]*input{in}) {
			in.asker.unanswered(r, why)
			r.goOn()
		}
		break
	}
	return nil
}

// update shows the task without the questions before their answers go out: one
// that has ended meanwhile gives none.
func (r *run) update(responses []byte) error {
	answers := r.inputs.match(responses)
	if len(answers) == 0 {
		r.log().Info().Int("open", len(r.inputs.open)).Msg("a client has answered nothing that is asked (unknown keys, or no objects): ignored")
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
