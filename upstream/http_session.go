package upstream

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// verdict is what a server said with an error status, as far as that can tell
// whether it has refused the request or the session.
type verdict struct {
	status int
	code   string // of the JSON-RPC error; "" where the body holds none
	ours   bool   // the error bears the request's own id: the server has read it
	text   string // the error's message, or the body where that is no JSON
}

// verdictOn reads a body; id is that of the request, nil for a notification.
func verdictOn(status int, id, body []byte) verdict {
	v := verdict{status: status, text: string(bytes.TrimSpace(body))}
	m, err := wire.Parse(body)
	switch {
	case err != nil && !errors.Is(err, wire.ErrNotMessage): // no JSON
	case wire.IsObject(m.Err()):
		v.code, v.ours = string(wire.Get(m.Err(), "code")), id != nil && bytes.Equal(m.ID(), id)
		v.text, _ = wire.String(wire.Get(m.Err(), "message"))
	case wire.IsObject(body):
		v.text = plainError(body)
	}
	return v
}

// plainError is the text of an error in the manner of web frameworks.
func plainError(object []byte) string {
	for _, name := range []string{"message", "detail", "error"} {
		if text, ok := wire.String(wire.Get(object, name)); ok {
			return text
		}
	}
	return ""
}

// isGone reports whether the server refuses a request because it is not, or
// not any more, the server that was greeted. It must not be taken in by the
// error of a tool that has done its work: the request would be said not to have
// begun.
func (l *httpLink) isGone(x *exchange, v verdict) bool {
	switch {
	case l.conn.greeted.Load() == nil:
		return false
	case l.conn.era() == Stateless:
		return v.replacedByOlder()
	case x.request.behalf != nil && aboutTheTask().MatchString(v.text):
		return false
	case v.code == "-32020", v.code == "-32022": // replaced by a newer one, which misses its headers
		return true
	}
	return x.session != "" && v.sessionGone()
}

// replacedByOlder: a server of the initialize era wants a session before it
// looks at any request.
func (v verdict) replacedByOlder() bool {
	switch v.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusServiceUnavailable:
		return (v.code == "-32000" || v.code == "-32600" && !v.ours) && v.speaksOfSession()
	}
	return false
}

// sessionGone reports whether the server refuses a request because it does not
// know the session. The specification has 404 for that (revision 2025-11-25,
// Transports, Session Management); servers in the field have other statuses
// too, and say so in words.
func (v verdict) sessionGone() bool {
	switch {
	case aboutTheRequest[v.code]:
		return false
	case v.status == http.StatusNotFound:
		return v.fromTheDoor() || v.speaksOfSession()
	case v.status == http.StatusBadRequest, v.status == http.StatusServiceUnavailable:
		return v.fromTheDoor() && v.speaksOfSession()
	}
	return false
}

// aboutTheRequest are the codes of servers that have looked at the request.
var aboutTheRequest = map[string]bool{"-32601": true, "-32602": true, "-32002": true}

// fromTheDoor reports whether the words can be those of what stands before the
// part of a server that does the work. Under the request's id, other codes than
// these are those of tools.
func (v verdict) fromTheDoor() bool {
	return v.code == "" || !v.ours || v.code == "-32000" || v.code == "-32001" || v.code == "-32600"
}

func (v verdict) speaksOfSession() bool { return aboutTheSession().MatchString(v.text) }

// aboutTheSession has the words of the SDKs and of servers without one. They
// stand at the beginning, behind the name of the status at most: a text that
// comes to speak of a session later is about something else.
var aboutTheSession = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\W{0,3}(?:(?:error|bad request|not found|service unavailable): )*(?:` +
		`server (?:is )?not initialized` +
		`|no valid (?:mcp[- ])?session` +
		`|(?:invalid|missing|unknown|expired)(?: or (?:invalid|missing|unknown|expired))? (?:mcp[- ])?session(?:[- ]id)?` +
		`|(?:mcp[- ])?session(?:[- ]id)?(?: header)?(?: (?:is|was|has|has been))? (?:not found|unknown|expired|terminated|closed|required|missing|invalid)` +
		`|session (?:with id )?\S+ (?:was )?not found|session does not exist` +
		`)(?:$|[^\w])`)
})

// lostOn ends the session on which a request was refused. What only reads is
// repeated on the next one, once; a tools/call is never sent again.
func (l *httpLink) lostOn(x *exchange, said string) *Error {
	l.lose()
	if x.isCall() || x.request.repeated {
		return l.errSessionLost(said).with(NotDispatched)
	}
	l.conn.client.again(l.conn, x.request)
	return nil
}
