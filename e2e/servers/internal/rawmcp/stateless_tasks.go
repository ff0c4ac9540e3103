package rawmcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The tasks of the extension io.modelcontextprotocol/tasks.

// pending is a question of a task that nobody has answered.
type pending struct {
	method, params string
	reply          chan message
}

const (
	extension = `"extensions":{"` + vendor + `tasks":{}}`
	needed    = `{"requiredCapabilities":{` + extension + `}}`
)

func (e *statelessEra) capability() string {
	if e.s.opts.Tasks == "" {
		return ""
	}
	return `,` + extension
}

func declared(m message) bool {
	return member(m.Params, "_meta", vendor+"clientCapabilities", "extensions", vendor+"tasks") != nil
}

// tasked: the server alone decides, and never makes a task for a client that did
// not declare the extension (Capability Negotiation).
func (e *statelessEra) tasked(m message, support string) (task bool, refusal string) {
	if support == "required" && !declared(m) {
		return false, errorObject(missingCapability, "Missing required client capability", needed)
	}
	return support != "forbidden" && declared(m), ""
}

func (e *statelessEra) created(t *task) string { return `{"resultType":"task",` + e.view(t) + `}` }

// told sends what tasks/get would give to all who listen (Task Status
// Notifications).
func (e *statelessEra) told(t *task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, filter := range e.listens {
		var ids []string
		if _ = json.Unmarshal(member(filter, "taskIds"), &ids); slices.Contains(ids, t.id) {
			e.s.notify("notifications/tasks", `{"_meta":{"`+vendor+`subscriptionId":`+id+`},`+e.view(t)+e.payload(t)+`}`)
		}
	}
}

// verdict: a result is a result, whatever it says.
func (e *statelessEra) verdict(t *task) (status, message string) {
	if t.failure != nil {
		return failed, text(member(t.failure, "message"))
	}
	return completed, ""
}

func (e *statelessEra) view(t *task) string {
	message := ""
	if t.message != "" {
		message = `,"statusMessage":` + quote(t.message)
	}
	return fmt.Sprintf(`"taskId":%q,"status":%q%s,"createdAt":%q,"lastUpdatedAt":%q,"ttlMs":%s,"pollIntervalMs":%d`,
		t.id, t.status, message, stamp(t.created), stamp(t.updated), t.ttl, e.s.opts.Poll.Milliseconds())
}

// payload is what only tasks in this state have.
func (e *statelessEra) payload(t *task) string {
	switch t.status {
	case completed:
		return `,"result":` + string(t.result)
	case failed:
		return `,"error":` + string(t.failure)
	case inputRequired:
		var all []string
		for key, p := range t.inputs {
			all = append(all, strconv.Quote(key)+`:{"method":"`+p.method+`","params":`+p.params+`}`)
		}
		return `,"inputRequests":{` + strings.Join(all, ",") + `}`
	}
	return ""
}

// tasks deals with what only servers with tasks know.
func (e *statelessEra) tasks(m message) bool {
	switch {
	case e.s.opts.Tasks == "":
		return false
	case !declared(m):
		e.s.fail(m.ID, missingCapability, "Missing required client capability", needed)
	case !e.s.task(text(member(m.Params, "taskId")), func(t *task) { e.serve(m, t) }):
		e.s.fail(m.ID, invalidParams, "Failed to retrieve task: Task not found", "")
	}
	return true
}

// serve deals with a task that there is, locked.
func (e *statelessEra) serve(m message, t *task) {
	switch m.Method {
	case "tasks/get":
		e.s.reply(m.ID, e.result(e.view(t)+e.payload(t), false))
		return
	case "tasks/cancel":
		e.s.cancelTask(t)
	case "tasks/update":
		e.update(t, member(m.Params, "inputResponses"))
	}
	e.s.reply(m.ID, `{"resultType":"complete"}`)
}

// update ignores keys that are not open (Task Update Requests).
func (e *statelessEra) update(t *task, responses json.RawMessage) {
	var replies map[string]json.RawMessage
	_ = json.Unmarshal(responses, &replies)
	for key, reply := range replies {
		if p, open := t.inputs[key]; open {
			delete(t.inputs, key)
			p.reply <- message{Result: reply}
		}
	}
	if len(t.inputs) == 0 && t.status == inputRequired {
		t.status = working
	}
}

// put is for tasks alone. A key names one question for the life of its task.
func (e *statelessEra) put(c *call, q question) asked {
	t, p := c.task, pending{method: q.Method, params: q.paramsFor(c), reply: make(chan message, 1)}
	e.s.tasks.mu.Lock()
	t.open++
	t.last++
	key := fmt.Sprintf("%d.%s", t.last, q.Key)
	if t.inputs != nil {
		t.inputs[key] = p
	}
	e.s.tasks.mu.Unlock()
	e.s.move(t, inputRequired, "waits for an answer")
	return asked{id: key, reply: p.reply}
}

func (e *statelessEra) withdraw(c *call, a asked) {
	e.s.tasks.mu.Lock()
	defer e.s.tasks.mu.Unlock()
	delete(c.task.inputs, a.id)
}

// accepted is what a listen is told of: of tasks only where the server does that
// (Task Status Notifications).
func (e *statelessEra) accepted(m message) (filter json.RawMessage, refusal string) {
	filter = member(m.Params, "notifications")
	ids := member(filter, "taskIds")
	switch {
	case ids == nil || e.s.opts.Tasks == "":
		return filter, ""
	case !declared(m):
		return nil, errorObject(missingCapability, "Missing required client capability", needed)
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(filter, &members)
	if !e.s.opts.Listen {
		delete(members, "taskIds")
	}
	filter, _ = json.Marshal(members)
	return filter, ""
}
