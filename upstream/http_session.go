package upstream

import (
	"net/http"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// isGone reports whether the server refuses a request because it is not, or
// not any more, the server that was greeted.
func (l *httpLink) isGone(x *exchange, status int, answer wire.Message, body []byte) bool {
	switch code := string(wire.Get(answer.Err(), "code")); {
	case l.conn.greeted.Load() == nil:
		return false
	case l.conn.era() == Stateless: // replaced by an older one
		return code != "" && strings.Contains(strings.ToLower(string(body)), "not initialized")
	case code == "-32020", code == "-32022": // replaced by a newer one, which misses its headers
		return true
	}
	return x.session != "" && sessionGone(status, answer, body)
}

// sessionGone reports whether the server refuses a request because it does not
// know the session. The specification has 404 for that (revision 2025-11-25,
// Transports, Session Management); servers in the field have other statuses
// too, and say so in words.
func sessionGone(status int, answer wire.Message, body []byte) bool {
	switch {
	case aboutTheRequest[string(wire.Get(answer.Err(), "code"))]:
		return false
	case status == http.StatusBadRequest, status == http.StatusServiceUnavailable:
		return saysSessionGone(strings.ToLower(string(body)))
	}
	return status == http.StatusNotFound
}

// aboutTheRequest are the codes of servers that have looked at the request.
var aboutTheRequest = map[string]bool{"-32601": true, "-32602": true, "-32002": true}

func saysSessionGone(text string) bool {
	if strings.Contains(text, "not initialized") {
		return true
	}
	if !strings.Contains(text, "session") {
		return false
	}
	for _, word := range []string{"not found", "no valid", "unknown", "invalid", "expired", "required", "missing", "does not exist", "terminated"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// lostOn ends the session on which a request was refused. What only reads is
// repeated on the next one, once; a tools/call is never sent again.
func (l *httpLink) lostOn(x *exchange) *Error {
	l.lose()
	if x.isCall() || x.request.repeated {
		return l.errSessionLost().with(NotDispatched)
	}
	l.conn.client.again(l.conn, x.request)
	return nil
}
