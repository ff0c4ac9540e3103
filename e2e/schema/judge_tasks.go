package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// What the specifications say of tasks in prose, and the schemas do not.

const relatedTask = "io.modelcontextprotocol/related-task"

// serverTasks are what a server may say of tasks in a session: all of it, or all
// but the list, which is for those who can tell their callers apart (2025-11-25,
// Tasks, Security Considerations).
var serverTasks = []string{
	`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`,
	`{"cancel":{},"requests":{"tools":{"call":{}}}}`,
}

// judgeSession judges the result of a request in a session.
func (a asked) judgeSession(result json.RawMessage) error {
	name := results[Initialize][a.method]
	if a.wants {
		name = "CreateTaskResult"
	}
	err := errors.Join(validateNamed(Initialize, name, result), a.judgeOffer(result))
	switch a.method {
	case "tools/call":
		if !a.wants && member(result, "task", "taskId") != nil || text(result, "resultType") == "task" {
			err = errors.Join(err, errors.New("a task where none was asked for, or one of another era"))
		}
		if a.wants && text(result, "task", "status") != "working" {
			err = errors.Join(err, errors.New("tasks begin in the working status"))
		}
	case "tasks/get", "tasks/cancel":
		err = errors.Join(err, a.judgeNamed(result), notRelated(result))
	case "tasks/result":
		err = errors.Join(err, a.judgePayload(result))
	}
	return err
}

// judgePayload: tasks/result returns what the call would have returned, and "MUST
// include this metadata in its response" (2025-11-25, Tasks, Related Task
// Metadata).
func (a asked) judgePayload(result json.RawMessage) error {
	if related := member(result, "_meta", relatedTask, "taskId"); !bytes.Equal(related, a.task) {
		return fmt.Errorf("the result of task %s is related to task %q", a.task, related)
	}
	return Validate(Initialize, "CallToolResult", result)
}

// judgeNamed insists on the task that was asked for.
func (a asked) judgeNamed(result json.RawMessage) error {
	if id := member(result, "taskId"); id != nil && !bytes.Equal(id, a.task) {
		return fmt.Errorf("asked for task %s, told of task %s", a.task, id)
	}
	return nil
}

// notRelated: these name their task themselves, and "SHOULD NOT include" the
// metadata.
func notRelated(object json.RawMessage) error {
	if member(object, "_meta", relatedTask) != nil {
		return errors.New("a task's own state has related-task metadata")
	}
	return nil
}

func judgeRelated(m message) error {
	if m.Method == "notifications/tasks/status" {
		return notRelated(m.Params)
	}
	return nil
}

// judgeOffer judges what a server says that it does of tasks. Each era has its
// own way, and knows nothing of the other's; revisions before 2025-11-25 have none.
func (a asked) judgeOffer(result json.RawMessage) error {
	session := a.document == Initialize && !a.older
	switch a.method {
	case "initialize", "server/discover":
		return judgeCapabilities(member(result, "capabilities"), session)
	case "tools/list":
		return judgeTools(result, session)
	}
	return nil
}

func judgeCapabilities(capabilities json.RawMessage, session bool) error {
	offered, known := member(capabilities, "tasks"), false
	for _, exact := range serverTasks {
		known = known || equal(offered, exact)
	}
	extends := member(capabilities, "extensions", extension)
	switch {
	case offered != nil && !session:
		return fmt.Errorf("tasks of 2025-11-25 are offered where there are none: %s", offered)
	case offered != nil && !known:
		return fmt.Errorf("tasks of 2025-11-25 are offered by an odd capability: %s", offered)
	case extends != nil && !equal(extends, "{}"):
		return fmt.Errorf("the extension has settings, which nobody defined: %s", extends)
	}
	return nil
}

// equal compares JSON in which order means nothing.
func equal(raw json.RawMessage, want string) bool {
	var a, b any
	if json.Unmarshal(raw, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return false
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

func judgeTools(result json.RawMessage, session bool) error {
	var list struct{ Tools []json.RawMessage }
	if session || json.Unmarshal(result, &list) != nil {
		return nil
	}
	for _, tool := range list.Tools {
		if member(tool, "execution") != nil {
			return fmt.Errorf("the member execution is of sessions since 2025-11-25 alone: %s", tool)
		}
	}
	return nil
}
