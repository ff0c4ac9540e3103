package upstream

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

const (
	loggedOfJunk = 200
	maxIDLogged  = 40 // one that a server makes up may be of any length
)

// skip counts every text and logs the first few, then ever fewer of them. What
// a child prints beside its messages is a banner or a line of a log; JSON, and
// what comes over HTTP, can be a result or a question, of which the log has no
// more than the length.
func (k *conn) skip(line []byte, why error) {
	n := k.skipped.Add(1)
	if n > 8 && n&(n-1) != 0 {
		return
	}
	event := k.log.Warn().Int64("skipped", n).Err(why).Int("bytes", len(line))
	if k.client.opts.LogPayloads || k.client.opts.URL == "" && errors.Is(why, wire.ErrNotJSON) {
		event = event.Bytes("line", line[:min(len(line), loggedOfJunk)])
	}
	event.Msg("the upstream server sent a text that is no message")
}

// failOpen ends the request that a malformed answer names, if it names one:
// the server has said all that it has to say on it. Lines of a log that happen
// to have an id are no answers.
func (k *conn) failOpen(m wire.Message, why error) {
	n, err := strconv.ParseFloat(strings.Trim(string(m.ID()), `"`), 64)
	if err != nil || m.Result() == nil && !wire.IsObject(m.Err()) {
		return
	}
	if r := k.take(int64(n)); r != nil {
		r.Reply(wire.Message{}, errMalformed(why))
	}
}

// failBroken is failOpen for what is no JSON, but began as an answer: it is
// nested too deeply, say, or has a control character in a string. One that was cut
// off is left to what ended the server, which says more.
func (k *conn) failBroken(text []byte, why error) {
	const most = 4 << 10
	if !errors.Is(why, wire.ErrNotJSON) || !wire.IsObject(text) || !bytes.HasSuffix(bytes.TrimSpace(text), []byte{'}'}) {
		return
	}
	rest := wire.TooLongError{Head: text[:min(len(text), most)]}
	id, err := strconv.ParseInt(string(rest.ID()), 10, 64)
	if err != nil || !bytes.Contains(rest.Head, []byte(`"jsonrpc"`)) || rest.Method() != "" {
		return
	}
	if r := k.take(id); r != nil {
		r.Reply(wire.Message{}, errMalformed(why))
	}
}

var errForeignID = errors.New("it changed the id of the request")

// tooLong: a message on the stream of a request of which nothing can be read
// is taken for its answer.
func (k *conn) tooLong(origin *Request, e *wire.TooLongError) {
	k.log.Warn().Int64("bytes", e.Size).Int("limit", e.Limit).Msg("dropped a message of the upstream server that is too long")
	if e.Method() != "" {
		k.refuseTooLong(origin, e)
		return
	}
	id, err := strconv.ParseInt(string(e.ID()), 10, 64)
	switch {
	case err == nil:
	case origin != nil:
		id = origin.id
	default:
		return
	}
	if r := k.take(id); r != nil {
		r.Reply(wire.Message{}, errTooLarge(e))
	}
}

// refuseTooLong answers a request of the server, which would wait for ever.
func (k *conn) refuseTooLong(origin *Request, e *wire.TooLongError) {
	if id := e.ID(); id != nil {
		k.link.awaitRoom()
		q := &question{id: id, method: e.Method(), request: origin}
		k.reply(q, wire.Failure(id, wire.Errorf(wire.CodeInvalidRequest, "Refused: %v.", e)))
	}
}
