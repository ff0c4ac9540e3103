package upstream

import "github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"

// generation is the kind of tasks that a server makes of calls. References
// (taskRef) have it in them: the numbers stay.
type generation int

const (
	noTasks        generation = 0
	olderTasks     generation = 1 // experimental, revision 2025-11-25
	extensionTasks generation = 2 // the Tasks extension
)

// era is the one in which tasks of the generation are followed.
func (g generation) era() Era {
	if g == extensionTasks {
		return Stateless
	}
	return Initialize
}

// generationOf reads a greeting (revision 2025-11-25, Tasks, Server Capabilities;
// Tasks extension, Capability Negotiation).
func (c *Client) generationOf(desc Description) generation {
	switch {
	case c.opts.Passthrough:
		return noTasks
	case desc.Era == Initialize && wire.IsObject(wire.Lookup(desc.Capabilities, "tasks", "requests", "tools", "call")):
		return olderTasks
	case desc.Era == Stateless && wire.IsObject(wire.Lookup(desc.Capabilities, "extensions", tasksExtension)):
		return extensionTasks
	}
	return noTasks
}

// makes is the kind that this server makes, none before it was greeted.
func (k *conn) makes() generation {
	if k.greeted.Load() == nil {
		return noTasks
	}
	return k.tasks
}

// declaresTasks reports whether the server of the stateless era is told that r may
// be answered with a task, and notes it. Servers go by nothing else (Tasks
// extension, Capability Negotiation).
func (k *conn) declaresTasks(r *Request) bool {
	if r.declares {
		return true
	}
	if r.Task == nil || r.NoTask || r.Message.Method() != "tools/call" || k.makes() != extensionTasks {
		return false
	}
	k.wish(r)
	return true
}

// wish notes that the answer to r may be a task.
func (k *conn) wish(r *Request) {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	r.wished = true
}

// created returns the task that the server has made instead of giving the result;
// nil for none (revision 2025-11-25, Tasks, Creating Tasks; Tasks extension, Task
// Creation).
func (g generation) created(m wire.Message) []byte {
	switch g {
	case extensionTasks:
		if string(wire.Get(m.Result(), "resultType")) == `"task"` {
			return m.Result()
		}
	case olderTasks:
		if task := wire.Get(m.Result(), "task"); wire.IsObject(task) && wire.Get(m.Result(), "content") == nil {
			return task
		}
	}
	return nil
}
