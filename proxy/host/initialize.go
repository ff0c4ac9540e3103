package host

import (
	"context"
	"slices"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// initializeVersions are the revisions that open with initialize, newest first.
var initializeVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// session is a conversation of the initialize era: what the host said once,
// and the upstream session that was opened with the host's own words. Where
// the upstream server speaks the same era, everything passes as it is; where
// it does not, bridge.go stands in for what is missing.
type session struct {
	*channel
	client    *upstream.Client
	caller    upstream.Caller
	version   []byte
	questions *questions
	bridge    *bridge
	talks     *talks
	fallback  *fallback

	mu       sync.Mutex
	revision string         // agreed on; empty before that
	welcomed bool           // the host has the answer to initialize
	early    []wire.Message // what the server sent before that
}

func newSession(c *channel, params []byte) *session {
	s := &session{channel: c, version: wire.Get(params, "protocolVersion")}
	s.caller = upstream.Caller{Info: wire.Get(params, "clientInfo"), Capabilities: wire.Get(params, "capabilities")}
	s.questions = newQuestions(s.sendBehind)
	hello := c.hello(upstream.Initialize)
	hello.Params = params
	s.client = c.Proxy.Dial(hello, upstream.Handler{
		Notification: s.fromUpstream, Request: s.asked, More: c.hold, Lost: s.questions.withdrawAll,
	})
	s.bridge, s.talks, s.fallback = newBridge(s), newTalks(s), newFallback(c)
	return s
}

// initialize answers with what the upstream server answered, however long that
// takes.
func (s *session) initialize(x exchange) canceller {
	ctx, cancel := context.WithCancelCause(s.ctx)
	spawned := s.spawn(func() {
		defer cancel(nil)
		desc, err := s.client.Connect(ctx)
		if err != nil {
			x.fail(connectError(err))
			return
		}
		x.reply(s.agree(s.welcome(desc)))
		s.sendEarly()
	})
	if !spawned {
		cancel(nil)
		x.fail(shuttingDown())
	}
	return stopping(func() { cancel(context.Canceled) }, upstream.NotDispatched)
}

func (s *session) welcome(desc upstream.Description) wire.Message {
	if desc.Era == upstream.Initialize {
		return desc.Response
	}
	version := s.version
	if v, _ := wire.String(version); !slices.Contains(initializeVersions, v) {
		version = wire.Quote(initializeVersions[0])
	}
	info := desc.ServerInfo
	if info == nil { // required here, and not there
		info = proxyInfo(s.Version)
	}
	result := []byte("{}")
	for _, m := range []struct {
		name  string
		value []byte
	}{
		{"instructions", desc.Instructions}, {"serverInfo", info},
		{"capabilities", withoutTasks(desc.Capabilities)}, {"protocolVersion", version},
	} {
		if m.value != nil {
			result = wire.Set(result, m.name, m.value)
		}
	}
	return wire.Result(noID, result)
}

// serve passes a request on, unless it is about tasks.
func (s *session) serve(x exchange) canceller {
	if cancel, ours := s.serveTask(x); ours {
		return cancel
	}
	if s.fallback.has(x.request) {
		return s.serveFallback(x)
	}
	if s.isBridged() {
		return s.bridge.serve(x)
	}
	return s.Proxy.Handle(s.request(x))
}

func (s *session) isBridged() bool {
	desc, connected := s.client.Describe()
	return connected && desc.Era == upstream.Stateless
}

// request is what the core gets.
func (s *session) request(x exchange) *proxy.Request {
	req := &proxy.Request{
		Message: x.request, Caller: s.caller, Upstream: s.client, Owner: s.owner, Header: x.header, Progress: progressTo(x),
		Resources: s.offersResources(),
		Reply:     func(m wire.Message) bool { return x.reply(s.adapted(x.request, m)) },
		Aside:     func(m wire.Message) { s.fromServer(m, x.notify) },
		Ask:       s.askOn(x),
	}
	if !s.Passthrough && x.request.Method() == "tools/call" && wire.Get(x.request.Params(), "task") != nil { // as a task it would be the server's, which the host could not find
		req.Message = x.request.With(wire.Changes{Params: wire.Delete(x.request.Params(), "task")})
	}
	if s.isBridged() {
		s.bridge.adapt(req)
	}
	if s.fallback.is() {
		req.Fallback, req.ReplyTask = true, func(t taskstate.Task) bool { return s.giveTicket(x, t) }
	}
	return req
}

// progressTo gives the host progress under its own token; nil if it has none.
func progressTo(x exchange) func(wire.Message) {
	token := wire.Lookup(x.request.Params(), "_meta", "progressToken")
	if token == nil || string(token) == "null" {
		return nil
	}
	return func(m wire.Message) {
		x.notify(m.With(wire.Changes{Params: wire.Set(m.Params(), "progressToken", token)}))
	}
}

func (s *session) notification(m wire.Message) {
	desc, connected := s.client.Describe()
	if connected && desc.Era == upstream.Stateless {
		s.bridge.notification(m, desc)
		return
	}
	s.client.Notify(m)
}

// response takes the host's answer to a question of the upstream server.
func (s *session) response(m wire.Message) { s.questions.answer(m) }

// fromUpstream passes on what the server sends of its own accord. The one
// thing to translate is which of its questions it withdraws.
func (s *session) fromUpstream(m wire.Message) { s.fromServer(m, s.sendBehind) }

func (s *session) fromServer(m wire.Message, send func(wire.Message)) {
	switch {
	case m.Method() == "notifications/cancelled":
		s.questions.withdraw(m)
	case m.Method() == "notifications/tasks/status" && !s.Passthrough: // of a task that the host knows by another name
	default:
		send(m)
	}
}

// askOn asks the host by the way of one of its requests.
func (s *session) askOn(x exchange) func(wire.Message, func(wire.Message)) (withdraw func()) {
	return func(m wire.Message, answer func(wire.Message)) func() { return s.questions.ask(m, answer, x.notify) }
}

func (s *session) asked(m wire.Message, answer func(wire.Message)) {
	s.questions.ask(m, answer, s.sendBehind)
}

// sendBehind keeps what the server sends of its own accord behind the answer to
// initialize, as it is on the server's own channel.
func (s *session) sendBehind(m wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.welcomed && len(s.early) < maxEarly {
		s.early = append(s.early, m)
		return
	}
	s.send(m)
}

func (s *session) sendEarly() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.welcomed = true
	for _, m := range s.early {
		s.send(m)
	}
	s.early = nil
}
