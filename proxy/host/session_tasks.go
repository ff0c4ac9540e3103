package host

import (
	"bytes"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// revisionOfTasks is the only one in which a session has tasks (revision
// 2025-11-25, Tasks). They are another view of those that the Tasks extension
// shows: a task of an owner is the same task for both.
const revisionOfTasks = "2025-11-25"

// Capabilities of the proxy itself, for all tools and nothing else (revision
// 2025-11-25, Tasks, Capabilities).
const (
	capabilityTasks  = `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`
	capabilityNoList = `{"cancel":{},"requests":{"tools":{"call":{}}}}`
)

// olderTaskMethods are ours in a session, and tasks/update is nobody's.
var olderTaskMethods = map[string]bool{
	"tasks/get": true, "tasks/result": true, "tasks/list": true, "tasks/cancel": true, "tasks/update": true,
}

// agree notes the revision of the session from the answer to initialize, and
// puts our tasks in the place of the server's. The extension is never offered
// here (Tasks extension, Capability Negotiation).
func (s *session) agree(m wire.Message) wire.Message {
	revision, _ := wire.String(wire.Get(m.Result(), "protocolVersion"))
	s.mu.Lock()
	s.revision = revision
	s.mu.Unlock()
	if s.Passthrough {
		return m
	}
	said := wire.Get(m.Result(), "capabilities")
	capabilities := s.taskCapability(withoutTasks(said))
	if s.offersResources() {
		capabilities = withResources(capabilities)
	}
	if bytes.Equal(capabilities, said) {
		return m
	}
	return m.With(wire.Changes{Result: wire.Set(m.Result(), "capabilities", capabilities)})
}

func (s *session) taskCapability(capabilities []byte) []byte {
	switch {
	case !s.hasTasks():
		return wire.Delete(capabilities, "tasks")
	case s.NoList:
		return wire.Set(capabilities, "tasks", []byte(capabilityNoList))
	}
	return wire.Set(capabilities, "tasks", []byte(capabilityTasks))
}

// hasTasks goes by what was agreed on, and before that by what the host asked
// for.
func (s *session) hasTasks() bool { return s.agreed() == revisionOfTasks }

func (s *session) agreed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision == "" {
		asked, _ := wire.String(s.version)
		return asked
	}
	return s.revision
}

// serveTask serves what concerns tasks; ours is false for everything else.
func (s *session) serveTask(x exchange) (cancel canceller, ours bool) {
	method := x.request.Method()
	switch {
	case s.Passthrough:
		return nil, false
	case olderTaskMethods[method]:
		return s.serveTaskMethod(x), true
	case method != "tools/call" || !s.hasTasks():
		return nil, false
	}
	wish := wire.Get(x.request.Params(), "task")
	if wish == nil || string(wish) == "null" {
		return nil, false
	}
	return s.create(x, wish), true
}

func (s *session) serveTaskMethod(x exchange) canceller {
	method := x.request.Method()
	switch {
	case !s.hasTasks() || method == "tasks/update":
		x.fail(wire.Errorf(wire.CodeMethodNotFound, "%s does not exist in revision %.30s.", method, s.agreed()))
	case method == "tasks/list" && s.NoList:
		x.fail(wire.Errorf(wire.CodeMethodNotFound, "tasks/list is not offered here, because those who may ask cannot be told apart. Keep the ids of your tasks."))
	case method == "tasks/list":
		s.inTurn(x, func() { s.listTasks(x) })
	default:
		return s.serveOneTask(x)
	}
	return nil
}

// serveOneTask goes by params.taskId alone (revision 2025-11-25, Tasks,
// Associating Task-Related Messages); what else stands there is ignored.
func (s *session) serveOneTask(x exchange) canceller {
	id, ok := wire.String(wire.Get(x.request.Params(), "taskId"))
	if !ok {
		x.fail(wire.Errorf(wire.CodeInvalidParams, "params.taskId is required: a string."))
		return nil
	}
	switch x.request.Method() {
	case "tasks/result":
		return s.result(x, id)
	case "tasks/cancel":
		s.apart(x, func() { s.cancelTask(x, id) })
	default:
		if s.Proxy.AtHand(id) {
			s.getTask(x, id)
		} else {
			s.inTurn(x, func() { s.getTask(x, id) })
		}
	}
	return nil
}
