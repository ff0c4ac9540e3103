package upstream

import (
	"errors"
	"fmt"
	"io"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// reply answers a question of the server.
func (k *conn) reply(q *question, response wire.Message) {
	m := response.With(wire.Changes{ID: q.id})
	k.trace("to upstream", m.Raw())
	if err := k.link.respond(q, m); err != nil {
		k.undelivered(q, err)
	}
}

func (k *conn) refuse(q *question, code int, format string) {
	k.reply(q, wire.Failure(q.id, wire.Errorf(code, format, q.method)))
}

// undelivered ends the request in which a question was asked whose answer the
// server did not get: it would wait for that, and the request with it. It does
// so on a goroutine of its own, for whoever has answered may hold what
// Request.Reply wants.
func (k *conn) undelivered(q *question, why error) {
	level := zerolog.WarnLevel
	atEnd := errors.Is(why, io.ErrClosedPipe) // of the session, and so of its requests
	if atEnd {
		level = zerolog.DebugLevel
	}
	k.log.WithLevel(level).Err(why).Str("method", fmt.Sprintf("%.100s", q.method)).Msg("the upstream server did not take the answer to its request")
	if atEnd || q.request == nil || q.method == "ping" { // no request waits for a ping
		return
	}
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	if !k.client.closed {
		k.client.work.Go(func() { k.giveUp(q.request, errUndelivered(q, why)) })
	}
}

// giveUp ends a request that the server will not end, and tells the server.
func (k *conn) giveUp(r *Request, reason *Error) {
	if !k.takeBack(r) {
		return
	}
	k.rehome()
	notice := wire.Message{}
	if r.Message.Method() != "initialize" { // which must not be cancelled (revision 2025-11-25, Cancellation)
		notice = wire.Notification("notifications/cancelled", wire.Set(nil, "reason", wire.Quote("The answer to a question could not be delivered.")))
	}
	k.cancelled(r, notice)
	r.Reply(wire.Message{}, reason)
}

// takeBack reports whether r was open here until now. It may have gone to
// another session since.
func (k *conn) takeBack(r *Request) bool {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	return k.takeBackLocked(r)
}
