package rawmcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The tasks of revision 2025-11-25 (Utilities, Tasks).

const related = `"io.modelcontextprotocol/related-task":`

func (e *initializeEra) capability() string {
	if e.opts().Tasks == "" {
		return ""
	}
	return `,"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`
}

// tasked: "If taskSupport is required, clients MUST invoke the tool as a task"
// (Tool-Level Negotiation).
func (e *initializeEra) tasked(m message, support string) (task bool, refusal string) {
	task = member(m.Params, "task") != nil
	switch {
	case task && support == "forbidden":
		return false, errorObject(methodNotFound, "This tool makes no tasks", "")
	case !task && support == "required":
		return false, errorObject(e.opts().RefuseCode, "Task augmentation required for tools/call requests", "")
	}
	return task, ""
}

func (e *initializeEra) created(t *task) string { return `{"task":` + e.view(t) + `}` }

func (e *initializeEra) told(t *task) { e.s.notify("notifications/tasks/status", e.view(t)) }

func (e *initializeEra) view(t *task) string {
	message := ""
	if t.message != "" {
		message = `,"statusMessage":` + quote(t.message)
	}
	return fmt.Sprintf(`{"taskId":%q,"status":%q%s,"createdAt":%q,"lastUpdatedAt":%q,"ttl":%s,"pollInterval":%d}`,
		t.id, t.status, message, stamp(t.created), stamp(t.updated), t.ttl, e.opts().Poll.Milliseconds())
}

// verdict: a result that says isError makes a failed task (Task Status).
func (e *initializeEra) verdict(t *task) (status, message string) {
	switch {
	case t.failure != nil:
		return failed, text(member(t.failure, "message"))
	case string(member(t.result, "isError")) == "true":
		var blocks []struct{ Text string }
		_ = json.Unmarshal(member(t.result, "content"), &blocks)
		return failed, blocks[0].Text
	}
	return completed, ""
}

// tasks deals with what only servers with tasks know.
func (e *initializeEra) tasks(m message) bool {
	id := text(member(m.Params, "taskId"))
	known := true
	switch {
	case e.opts().Tasks == "":
		return false
	case m.Method == "tasks/list":
		e.list(m)
	case m.Method == "tasks/result":
		known = e.s.task(id, func(t *task) { e.await(m, t) })
	case m.Method == "tasks/cancel":
		known = e.s.task(id, func(t *task) { e.cancel(m, t) })
	default:
		known = e.s.task(id, func(t *task) { e.s.reply(m.ID, e.view(t)) })
	}
	if !known {
		e.s.fail(m.ID, invalidParams, "Failed to retrieve task: Task not found", "")
	}
	return true
}

// await answers with the outcome, when there is one. What is asked until then,
// or was asked before, may come on its stream. The tasks are locked.
func (e *initializeEra) await(m message, t *task) {
	t.readers++
	for _, line := range t.queue {
		e.s.out.write(line)
	}
	t.queue = nil
	e.s.begin(string(m.ID), newCall(e.s, m, ""), func(c *call) {
		select {
		case <-t.over:
		case <-c.ctx.Done():
		}
		e.s.tasks.mu.Lock()
		defer e.s.tasks.mu.Unlock()
		t.readers--
		if c.ctx.Err() == nil {
			e.outcome(m, t)
		}
	})
}

// outcome is what the call itself would have been answered (Result Retrieval).
func (e *initializeEra) outcome(m message, t *task) {
	switch {
	case t.result != nil:
		e.s.reply(m.ID, about(string(t.result), t.id))
	case t.failure != nil:
		e.s.refuse(m.ID, string(t.failure))
	default:
		e.s.fail(m.ID, internalError, "The task was cancelled", "")
	}
}

// about puts the name of a task into an object that has no _meta.
func about(object, id string) string {
	head := `{"_meta":{` + related + `{"taskId":` + quote(id) + `}}`
	if object == "{}" {
		return head + "}"
	}
	return head + "," + object[1:]
}

// put sends a request, at once or when somebody waits for the task's result.
func (e *initializeEra) put(c *call, q question) asked {
	if c.task == nil {
		line, a := e.s.pose(q.Method, q.paramsFor(c))
		e.s.out.write(line)
		return a
	}
	t := c.task
	line, a := e.s.pose(q.Method, about(q.paramsFor(c), t.id))
	e.s.tasks.mu.Lock()
	t.open++
	waits := e.opts().Queue && t.readers == 0
	if waits {
		t.queue = append(t.queue, line)
	}
	e.s.tasks.mu.Unlock()
	e.s.move(t, inputRequired, "waits for an answer")
	if !waits {
		e.s.out.write(line)
	}
	return a
}

func (e *initializeEra) withdraw(_ *call, a asked) {
	e.s.notify("notifications/cancelled", `{"requestId":`+a.id+`,"reason":"not needed any more"}`)
}

func (e *initializeEra) list(m message) {
	e.s.tasks.mu.Lock()
	defer e.s.tasks.mu.Unlock()
	var all []string
	for _, t := range e.s.sorted() {
		all = append(all, e.view(t))
	}
	e.s.reply(m.ID, `{"tasks":[`+strings.Join(all, ",")+`]}`)
}

func (e *initializeEra) cancel(m message, t *task) {
	if !e.s.cancelTask(t) {
		e.s.fail(m.ID, invalidParams, "Cannot cancel task: already in terminal status '"+t.status+"'", "")
		return
	}
	e.s.reply(m.ID, e.view(t))
}
