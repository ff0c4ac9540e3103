package host

import (
	"errors"
	"strconv"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// taskRequest serves tasks/get, tasks/update and tasks/cancel. The checks come
// in the order in which the official suite wants them: extension declared,
// params sound, task known.
func (s *stateless) taskRequest(x exchange, from sender) {
	method := x.request.Method()
	if !from.tasks {
		x.fail(proxy.MissingTasks(method + " belongs to the Tasks extension"))
		return
	}
	id, ok := wire.String(wire.Get(x.request.Params(), "taskId"))
	if !ok {
		x.fail(wire.Errorf(wire.CodeInvalidParams, "params.taskId is required: a string."))
		return
	}
	result, err := s.serveTask(method, id, x.request.Params())
	if err != nil {
		x.fail(err)
		return
	}
	x.result(s.identify(result))
}

// taskNamed is the task that a request is about; empty for none.
func taskNamed(m wire.Message) string {
	id, _ := wire.String(wire.Get(m.Params(), "taskId"))
	return id
}

func (s *stateless) serveTask(method, id string, params []byte) ([]byte, *wire.Error) {
	switch method {
	case "tasks/cancel":
		_, err := s.Proxy.CancelTask(s.owner, id)
		return acknowledgement, s.taskError(err, id)
	case "tasks/update":
		return s.updateTask(id, params)
	}
	task, err := s.Proxy.Task(s.owner, id)
	if err != nil {
		return nil, s.taskError(err, id)
	}
	return detailed("complete", task), nil
}

// acknowledgement is the empty answer to tasks/update and tasks/cancel.
var acknowledgement = []byte(`{"resultType":"complete"}`)

// updateTask is for answers to the questions of a task (Tasks extension, Task
// Update Requests).
func (s *stateless) updateTask(id string, params []byte) ([]byte, *wire.Error) {
	responses := wire.Get(params, "inputResponses")
	if !wire.IsObject(responses) {
		return nil, wire.Errorf(wire.CodeInvalidParams, "params.inputResponses is required: an object.")
	}
	cause := s.Proxy.UpdateTask(s.owner, id, responses)
	err := s.taskError(cause, id)
	if err != nil && err.Code == wire.CodeInternal && !isDamage(cause) {
		err.Message += " The answers were not taken: send them again."
	}
	return acknowledgement, err
}

// taskError: an id that is unknown, another owner's or expired is -32602 for
// all three methods (Tasks extension, Protocol Errors).
func (c *channel) taskError(err error, id string) *wire.Error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, taskstate.ErrNotFound):
		return wire.Errorf(wire.CodeInvalidParams, "Task not found: %.100q is unknown or has expired.", id)
	}
	c.Log.Error().Err(err).Str("task", proxy.Shorten(id, 100)).Msg("the task store failed a client")
	text := "The proxy cannot serve the task at the moment: " + proxy.StoreText(err) + ". The task itself is not affected: ask again in a moment."
	if isDamage(err) {
		text = "The proxy cannot read the task any more: " + proxy.StoreText(err) + ". Repeat the call only if running it twice does no harm."
	}
	return &wire.Error{Code: wire.CodeInternal, Message: text, Data: map[string]string{"reason": "storage"}}
}

func isDamage(err error) bool {
	var damaged *taskstate.DamagedError
	return errors.As(err, &damaged)
}

// handle is the CreateTaskResult (Tasks extension, Task Creation).
func handle(t taskstate.Task) []byte { return taskObject("task", t) }

// detailed is the result of tasks/get, or without a type of result the params of
// notifications/tasks (Tasks extension, Task Polling; Task Status
// Notifications): the task, and what its status asks for in a member.
func detailed(resultType string, t taskstate.Task) []byte {
	object := taskObject(resultType, t)
	switch t.Status {
	case taskstate.InputRequired:
		return wire.Append(object, "inputRequests", orEmpty(t.Inputs))
	case taskstate.Completed:
		return wire.Append(object, "result", inlined(t.Outcome))
	case taskstate.Failed:
		if modern := modernCode(t.Outcome); modern != nil {
			return wire.Append(object, "error", modern)
		}
		return wire.Append(object, "error", t.Outcome)
	}
	return object
}

// orEmpty is for a task of an earlier process that is about to ask again.
func orEmpty(object []byte) []byte {
	if object == nil {
		return []byte("{}")
	}
	return object
}

// inlined is a result as it would have been given to the call itself. What is
// added does not depend on anything but the result: it must read the same at
// any time.
func inlined(result []byte) []byte {
	if !wire.IsObject(result) {
		return result
	}
	meta := wire.Get(result, "_meta")
	if kept := wire.Delete(meta, metaRelatedTask); len(kept) != len(meta) {
		result = wire.Set(result, "_meta", kept)
	}
	return completed("tools/call", result)
}

// taskObject is put together by hand: nothing is asked for more often.
func taskObject(resultType string, t taskstate.Task) []byte {
	b := append(make([]byte, 0, 320+len(t.StatusMessage)), '{')
	if resultType != "" {
		b = append(wire.AppendQuote(append(b, `"resultType":`...), resultType), ',')
	}
	b = wire.AppendQuote(append(b, `"taskId":`...), t.ID)
	b = wire.AppendQuote(append(b, `,"status":`...), string(t.Status))
	if t.StatusMessage != "" {
		b = wire.AppendQuote(append(b, `,"statusMessage":`...), t.StatusMessage)
	}
	b = appendTime(append(b, `,"createdAt":`...), t.CreatedAt)
	b = appendTime(append(b, `,"lastUpdatedAt":`...), t.UpdatedAt)
	b = strconv.AppendInt(append(b, `,"ttlMs":`...), t.Retention(time.Now()).Milliseconds(), 10)
	if ms := t.PollInterval.Milliseconds(); ms != 0 {
		b = strconv.AppendInt(append(b, `,"pollIntervalMs":`...), ms, 10)
	}
	if b = append(b, '}'); t.Progress == nil {
		return b
	}
	return wire.Append(b, "_meta", wire.Set(nil, metaProgress, t.Progress))
}

const timeForm = "2006-01-02T15:04:05.000Z"

func timestamp(t time.Time) string { return t.UTC().Format(timeForm) }

func appendTime(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), timeForm), '"')
}
