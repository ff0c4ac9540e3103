package host

import (
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// giveTicket answers a call of the session. What its task asks, the host is asked
// from now on; so is one of another session that waits for the result.
func (s *session) giveTicket(x exchange, t taskstate.Task) bool {
	if !x.reply(s.fallback.ticket(t)) {
		return false
	}
	s.talks.beginQuiet(t)
	return true
}

func (s *session) serveFallback(x exchange) canceller {
	return s.fallback.serve(x, job{
		reply:  func(m wire.Message) bool { return x.reply(m.With(wire.Changes{Result: olderResult(m.Result())})) },
		attend: func(t taskstate.Task) (leave func()) { return s.talks.attend(t, x.notify) },
	})
}

func (s *session) withFallback(m wire.Message) wire.Message {
	if m.Result() == nil || !s.fallback.is() {
		return m
	}
	return m.With(wire.Changes{Result: s.fallback.list(m.Result())})
}

// serveFallback answers what the task asks, if the host has come back with that
// (revision 2026-07-28, Multi Round-Trip Requests).
func (s *stateless) serveFallback(x exchange, from sender) canceller {
	reply := func(m wire.Message) bool { return x.reply(s.complete("tools/call", from, m)) }
	return s.fallback.serve(x, job{
		reply: reply, answers: wire.Get(x.request.Params(), "inputResponses"),
		ask: func(t taskstate.Task) (answered bool) {
			questions := askable(t.Inputs, from)
			if questions != nil {
				result := wire.Set(wire.Set(nil, "inputRequests", questions), "resultType", []byte(`"input_required"`))
				reply(wire.Result(noID, result))
			}
			return questions != nil
		},
	})
}

// askable are the questions that the sender takes; nil for none.
func askable(inputs []byte, from sender) (questions []byte) {
	wire.Each(inputs, func(key string, request []byte) {
		if proxy.Takes(from.caller, request) {
			questions = wire.Set(questions, key, request)
		}
	})
	return questions
}
