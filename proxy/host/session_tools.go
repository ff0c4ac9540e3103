package host

import (
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// adapted is a response of the server with what it says of tasks made ours.
func (s *session) adapted(request, response wire.Message) wire.Message {
	switch {
	case s.Passthrough:
		return response
	case request.Method() == "tools/list":
		return s.withFallback(s.withTaskSupport(response))
	case request.Method() == "tools/call":
		return s.withoutExtension(request, response)
	}
	return response
}

// withTaskSupport says of each tool whether it may be called as a task, by our
// policy alone (revision 2025-11-25, Tasks, Tool-Level Negotiation): it is us who
// make the task. No tool has to be called so, because hosts without tasks could
// not call it. Older revisions do not know the field.
func (s *session) withTaskSupport(m wire.Message) wire.Message {
	result := m.Result()
	if !s.hasTasks() {
		return m.With(wire.Changes{Result: withoutExecution(result)})
	}
	tools := wire.Elements(wire.Get(result, "tools"))
	if len(tools) == 0 {
		return m
	}
	for i, tool := range tools {
		if wire.IsObject(tool) {
			support := wire.Set(wire.Get(tool, "execution"), "taskSupport", s.taskSupport(tool))
			tools[i] = wire.Set(tool, "execution", support)
		}
	}
	return m.With(wire.Changes{Result: wire.Set(result, "tools", wire.Array(tools))})
}

func (s *session) taskSupport(tool []byte) []byte {
	name, _ := wire.String(wire.Get(tool, "name"))
	if s.Proxy.Policy(name).Task == proxy.Never {
		return []byte(`"forbidden"`)
	}
	return []byte(`"optional"`)
}

// withoutExtension has the error for a tool that only runs as a task speak of the
// tasks of the session, where it speaks of the extension (revision 2025-11-25,
// Tasks, Tool-Level Negotiation: -32601).
func (s *session) withoutExtension(request, m wire.Message) wire.Message {
	if wire.Lookup(m.Err(), "data", "requiredCapabilities", "extensions", tasksExtension) == nil {
		return m
	}
	tool := toolOf(request)
	e := wire.Errorf(wire.CodeMethodNotFound, "Tool %.100q only runs as a task: call it with params.task, as in {\"task\":{}}. %s", tool, upstream.NotDispatched.Sentence())
	if !s.hasTasks() {
		e = wire.Errorf(wire.CodeMethodNotFound, "Tool %.100q only runs as a task, and revision %.30s has none: it takes a client of revision %s or later, or another policy for the tool (task: after). %s",
			tool, s.agreed(), revisionOfTasks, upstream.NotDispatched.Sentence())
	}
	e.Data = map[string]any{"reason": "task_required", "outcome": upstream.NotDispatched}
	return wire.Failure(noID, e)
}
