package host

import (
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func (s *Stdio) message(m wire.Message) {
	switch {
	case m.IsRequest():
		s.request(m)
	case m.IsNotification():
		s.notification(m)
	default:
		if session := s.current(); session != nil {
			session.response(m)
		}
	}
}

func (s *Stdio) request(m wire.Message) {
	flight := s.inflight.begin(m.ID(), func(response wire.Message) {
		s.write(response.With(wire.Changes{ID: m.ID()}))
	})
	x := exchange{request: m, notify: s.send}
	x.reply = func(response wire.Message) bool { return s.inflight.answer(flight, response) }
	if s.closing.Load() {
		x.fail(shuttingDown())
		return
	}
	s.inflight.cancellable(flight, s.serve(x))
}

// serve goes by how the request opens (revision 2026-07-28, Versioning,
// Backward Compatibility): per-request _meta means the stateless era,
// initialize the other one, for the rest of the process.
func (s *Stdio) serve(x exchange) canceller {
	m := x.request
	switch session := s.current(); {
	case opensStateless(m):
		return s.stateless.serve(x)
	case m.Method() == "initialize":
		return s.open(m.Params()).initialize(x)
	case session != nil:
		return session.serve(x)
	case m.Method() == "ping": // allowed before initialize
		x.result([]byte("{}"))
		return nil
	}
	return s.stateless.serve(x)
}

// open begins the conversation. An upstream server that only stateless
// requests have used so far is sent home if it has nothing to do: it was
// greeted without the capabilities that the host declares now.
func (s *Stdio) open(params []byte) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		s.session = newSession(s.channel, params)
		s.stateless.client.Rest()
	}
	return s.session
}

func (s *Stdio) current() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

func (s *Stdio) notification(m wire.Message) {
	if m.Method() == "notifications/cancelled" {
		s.inflight.cancel(wire.Get(m.Params(), "requestId"), m)
		return
	}
	if session := s.current(); session != nil && !opensStateless(m) {
		session.notification(m)
		return
	}
	s.stateless.notification(m)
}

func (s *Stdio) write(m wire.Message) {
	if s.LogPayloads { // else the text need not be put together
		s.trace("to host", m.Raw())
	}
	if err := s.out.WriteMessage(m); err != nil {
		s.Log.Debug().Err(err).Msg("the host does not take messages any more")
	}
}
