package upstream

import (
	"strconv"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// setLevel asks for a level on behalf of r, and reports whether that was sent.
// Of a child process the former answer may still be due: it does not matter any
// more.
func (k *conn) setLevel(r *Request, level int) bool {
	l := &k.logging
	if l.asking != nil {
		k.take(l.asking.id)
		l.limit.Stop()
	}
	own := &Request{Header: r.Header, repeated: true, written: true, own: true}
	own.Message = wire.Request(0, "logging/setLevel", wire.Set(nil, "level", wire.Quote(LogLevels[level])))
	own.Reply = func(m wire.Message, err *Error) { k.levelSet(own, level, m, err) }
	l.set, l.asking = level, own
	if !k.sendOwn(own) {
		l.set, l.asking = unset, nil
		return false
	}
	wait := levelLimit
	if !r.since.IsZero() {
		wait -= time.Since(r.since)
	}
	l.limit = time.AfterFunc(wait, func() { k.levelLate(own, level) })
	return true
}

// sendOwn sends a request of our own while conn.order is held.
func (k *conn) sendOwn(own *Request) bool {
	k.client.mu.Lock()
	ended := k.ended
	if !ended {
		k.enlistLocked(own)
	}
	k.client.mu.Unlock()
	if ended {
		return false
	}
	m := own.Message.With(wire.Changes{ID: strconv.AppendInt(nil, own.id, 10)})
	k.trace("to upstream", m.Raw())
	if k.link.request(own, m) != nil {
		k.take(own.id)
		return false
	}
	return true
}

// levelLate gives up on a server that does not answer.
func (k *conn) levelLate(own *Request, level int) {
	if k.client.Cancel(own, wire.Message{}) {
		k.log.Warn().Str("level", LogLevels[level]).Msg("the upstream server did not answer logging/setLevel in time")
		k.levelSet(own, level, wire.Message{}, nil)
	}
}

// levelSet lets those go on that have waited. One that wants still more has
// come since.
func (k *conn) levelSet(own *Request, level int, m wire.Message, err *Error) {
	if m.Err() != nil {
		code := wire.Get(m.Err(), "code")
		k.log.Warn().Str("level", LogLevels[level]).Bytes("code", code[:min(len(code), 20)]).Msg("the upstream server refused logging/setLevel")
	}
	for _, w := range k.levelOver(own, level, err) {
		k.write(w.request, w.message)
	}
}

// levelOver: where no answer came at all the next request tries again.
func (k *conn) levelOver(own *Request, level int, err *Error) []waiter {
	k.order.Lock()
	defer k.order.Unlock()
	l := &k.logging
	if l.asking != own {
		return nil
	}
	l.limit.Stop()
	l.asking = nil
	if err != nil {
		l.set = unset
	}
	waiting := l.waiting
	l.waiting = nil
	for _, w := range waiting {
		w.request.levelled = level <= w.request.level()
	}
	return waiting
}
