package host

import (
	"context"
	"errors"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

func (s *session) getTask(x exchange, id string) {
	task, err := s.Proxy.Task(s.owner, id)
	if err != nil {
		x.fail(s.taskError(err, id))
		return
	}
	x.result(s.olderTask(task))
}

// cancelTask: what has ended cannot be cancelled (revision 2025-11-25, Tasks,
// Task Cancellation).
func (s *session) cancelTask(x exchange, id string) {
	ended, err := s.Proxy.CancelTask(s.owner, id)
	var task taskstate.Task
	if err == nil {
		task, err = s.Proxy.Task(s.owner, id)
	}
	switch {
	case err != nil:
		x.fail(s.taskError(err, id))
	case !ended:
		x.fail(wire.Errorf(wire.CodeInvalidParams, "Cannot cancel task: it has ended already, as %s. What came of it is there (tasks/result).", s.olderStatus(task)))
	default:
		x.result(s.olderTask(task))
	}
}

// pageOfTasks is how many tasks a page of tasks/list has at most.
const pageOfTasks = 100

// listTasks serves tasks/list (revision 2025-11-25, Tasks, Task Listing): the
// owner's, whoever made them and how.
func (s *session) listTasks(x exchange) {
	cursor, ok := "", true
	if raw := wire.Get(x.request.Params(), "cursor"); raw != nil && string(raw) != "null" {
		cursor, ok = wire.String(raw)
		ok = ok && cursor != ""
	}
	tasks, next, err := []taskstate.Task(nil), "", taskstate.ErrBadCursor
	if ok {
		tasks, next, err = s.Proxy.ListTasks(s.owner, cursor, pageOfTasks)
	}
	switch {
	case errors.Is(err, taskstate.ErrBadCursor):
		x.fail(wire.Errorf(wire.CodeInvalidParams, "params.cursor is none of ours: leave it out to begin with the newest task."))
	case err != nil:
		x.fail(s.taskError(err, ""))
	default:
		x.result(s.taskList(tasks, next))
	}
}

func (s *session) taskList(tasks []taskstate.Task, next string) []byte {
	list := [][]byte{}
	for _, t := range tasks {
		list = append(list, s.olderTask(t))
	}
	result := wire.Set(nil, "tasks", wire.Array(list))
	if next != "" {
		result = wire.Append(result, "nextCursor", wire.Quote(next))
	}
	return result
}

// result serves tasks/result: it waits for the end of the task (revision
// 2025-11-25, Tasks, Result Retrieval). To cancel it ends nothing but the wait.
func (s *session) result(x exchange, id string) canceller {
	if !s.Proxy.AtHand(id) {
		return s.storedResult(x, id)
	}
	if !s.talks.wait() {
		x.fail(wire.Errorf(wire.CodeInternal, "The client waits for %d tasks already (tasks/result): ask with tasks/get instead.", maxWaits))
		return nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	spawned := s.spawn(func() {
		defer cancel()
		defer s.talks.waited()
		if task, ended := s.awaitEnd(ctx, x, id); ended {
			s.placed(x, func() { x.reply(payload(task)) })
		}
	})
	if !spawned {
		cancel()
		s.talks.waited()
		x.fail(shuttingDown())
	}
	return stopping(cancel, upstream.NotDispatched)
}

// storedResult is that of a task which has ended.
func (s *session) storedResult(x exchange, id string) canceller {
	ctx, cancel := context.WithCancel(s.ctx)
	s.inTurn(x, func() {
		defer cancel()
		if task, ended := s.awaitEnd(ctx, x, id); ended {
			x.reply(payload(task))
		}
	})
	return stopping(cancel, upstream.NotDispatched)
}

// awaitEnd is false where there is no end to be told of; then it has been answered, if
// anybody waits for that.
func (s *session) awaitEnd(ctx context.Context, x exchange, id string) (task taskstate.Task, ended bool) {
	watch, err := s.Proxy.Watch(s.owner, id)
	if err != nil {
		x.fail(s.taskError(err, id))
		return task, false
	}
	defer watch.Close()
	task, err = watch.Next(ctx)
	if err == nil && !task.Status.Terminal() {
		defer s.talks.attend(task, x.notify)()
	}
	for err == nil && !task.Status.Terminal() {
		task, err = watch.Next(ctx)
	}
	if err != nil && ctx.Err() == nil { // else nobody waits for the answer
		x.fail(wire.Errorf(wire.CodeInternal, "The proxy is shutting down. The task is not affected: ask for its result again in a moment."))
	}
	return task, err == nil
}
