package host

import (
	"encoding/json"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// olderTask is a task as revision 2025-11-25 has it (Tasks, Data Types, Task):
// the result of tasks/get and tasks/cancel, and part of others.
func (s *session) olderTask(t taskstate.Task) []byte {
	object, err := json.Marshal(struct {
		TaskID        string `json:"taskId"`
		Status        string `json:"status"`
		StatusMessage string `json:"statusMessage,omitempty"`
		CreatedAt     string `json:"createdAt"`
		LastUpdatedAt string `json:"lastUpdatedAt"`
		TTL           int64  `json:"ttl"` // milliseconds
		PollInterval  int64  `json:"pollInterval,omitempty"`
	}{
		t.ID, string(s.olderStatus(t)), t.StatusMessage, timestamp(t.CreatedAt), timestamp(t.UpdatedAt),
		t.Retention(time.Now()).Milliseconds(), t.PollInterval.Milliseconds(),
	})
	if err != nil {
		panic(err) // strings and integers always have an encoding
	}
	return object
}

// olderStatus: a tool that says isError has failed (revision 2025-11-25, Tasks,
// Task Execution Errors), which in the extension is a task that completed.
func (s *session) olderStatus(t taskstate.Task) taskstate.Status {
	if t.Status == taskstate.Completed && t.IsError && s.OlderTasks.ErrorStatus != string(taskstate.Completed) {
		return taskstate.Failed
	}
	return t.Status
}

const metaImmediate = "io.modelcontextprotocol/model-immediate-response"

// newTask is a task as its host hears of it first: as working (revision
// 2025-11-25, Tasks, Task Status Lifecycle), although it may ask something
// already. That follows.
func (s *session) newTask(t taskstate.Task) []byte {
	t.Status = taskstate.Working
	return s.olderTask(t)
}

// created is the CreateTaskResult (revision 2025-11-25, Tasks, Creating Tasks).
func (s *session) created(t taskstate.Task) []byte {
	result := wire.Set(nil, "task", s.newTask(t))
	if text := s.OlderTasks.ImmediateResponse; text != "" {
		result = wire.Append(result, "_meta", wire.Set(nil, metaImmediate, wire.Quote(text)))
	}
	return result
}

// related adds to _meta whose message it is (revision 2025-11-25, Tasks, Related
// Task Metadata).
func related(object []byte, id string) []byte {
	meta := wire.Set(wire.Get(object, "_meta"), metaRelatedTask, wire.Set(nil, "taskId", wire.Quote(id)))
	return wire.Set(object, "_meta", meta)
}

// payload answers tasks/result for a task that has ended: what the call itself
// would have been answered with (revision 2025-11-25, Tasks, Result Retrieval).
func payload(t taskstate.Task) wire.Message {
	switch t.Status {
	case taskstate.Completed:
		return wire.Result(noID, related(olderResult(t.Outcome), t.ID))
	case taskstate.Failed:
		return wire.Failure(noID, wire.Errorf(wire.CodeInternal, "The task failed.")).With(wire.Changes{Err: t.Outcome})
	}
	return wire.Failure(noID, cancelledTask(t))
}

// olderResult takes from a result of the stateless era what only that era knows.
func olderResult(result []byte) []byte {
	if string(wire.Get(result, "resultType")) != `"complete"` {
		return result
	}
	return wire.DeleteIn(wire.Delete(result, "resultType"), "_meta", metaServerInfo)
}

// cancelledTask: the revision has no code for it, and others answer with an
// internal error, too.
func cancelledTask(t taskstate.Task) *wire.Error {
	outcome := upstream.NotDispatched
	if t.Dispatched {
		outcome = upstream.Unknown
	}
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: "The task was cancelled, and has no result. " + outcome.Sentence(),
		Data:    map[string]any{"reason": "cancelled", "outcome": outcome},
	}
}
