package upstream

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// overlongBody is an answer of which nobody knows how long it goes on.
type overlongBody struct{ limit int }

func (e *overlongBody) Error() string {
	return fmt.Sprintf("it is over the limit of %d bytes", e.limit)
}

// outcomeOfStatus says what an error status means for the work: those with which a
// server refuses to begin, and those behind which it may have begun.
func outcomeOfStatus(status int) Outcome {
	switch {
	case status == http.StatusRequestTimeout:
		return Unknown
	case status/100 == 4, status == http.StatusServiceUnavailable, status == http.StatusNotImplemented:
		return NotDispatched
	}
	return Unknown
}

// errStatus is for an error status without a JSON-RPC error.
func (h *httpClient) errStatus(resp *http.Response, forwarded http.Header, body []byte) *Error {
	said := piece(body, h.headers(forwarded, ""))
	e := h.errHTTP("upstream_http", "answered with %s%s", statusOf(resp), quoted(said))
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		e = h.errHTTP("upstream_unauthorized", "answered with %s%s. %s", statusOf(resp), quoted(said), h.whose(forwarded))
	}
	e.Status, e.Body = resp.StatusCode, said
	return e.with(outcomeOfStatus(resp.StatusCode))
}

// whose says whose credentials were refused.
func (h *httpClient) whose(forwarded http.Header) string {
	switch {
	case h.static.Get("Authorization") != "" || h.endpoint.User != nil:
		return "The credentials that it refused are those of the proxy's configuration: correct them there"
	case forwarded.Get("Authorization") != "":
		return "The credentials that it refused are those that came with the client's own request: renew them there"
	}
	return "No Authorization was sent: add one to the proxy's configuration, or have the client send its own"
}

func (l *httpLink) errNoMessage(x *exchange, resp *http.Response, kind string, body []byte) *Error {
	if kind == "" {
		kind = "something of no declared type"
	}
	if len(body) == 0 {
		kind = "nothing"
	}
	said := piece(body, l.http.headers(x.request.Header, ""))
	e := l.http.errHTTP("upstream_http", "answered a request with %s and %s instead of a message%s. Is the URL that of its MCP endpoint?",
		statusOf(resp), kind, quoted(said))
	e.Text = strings.TrimSuffix(e.Text, ".")
	e.Status, e.Body = resp.StatusCode, said
	return e.with(Unknown)
}

func (l *httpLink) errSessionLost() *Error {
	return l.http.errHTTP("upstream_session_lost", "does not know the session any more. A new one is opened for the next request")
}

func quoted(said string) string {
	if said == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", said)
}

const pieceBytes = 200

// piece is the beginning of what a server said, on one line, without what we
// had sent: servers quote credentials.
func piece(body []byte, sent http.Header) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), maxRefusal)]), "")
	for _, values := range sent {
		for _, value := range values {
			text = conceal(text, value)
		}
	}
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
	if len(text) > pieceBytes {
		text = string(wholeRunes([]byte(text[:pieceBytes]))) + "…"
	}
	return text
}

// conceal also knows the part of a value behind its scheme.
func conceal(text, value string) string {
	const least = 6 // what is shorter is no secret, and stands everywhere
	_, secret, ok := strings.Cut(value, " ")
	for _, s := range []string{value, secret} {
		if len(s) >= least && (ok || s == value) {
			text = strings.ReplaceAll(text, s, "[…]")
		}
	}
	return text
}

// readPiece reads what is said beside a status that is all that counts.
func readPiece(resp *http.Response) []byte {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return body
}

// refusalText is an error object for people.
func refusalText(object []byte) string {
	text, _ := wire.String(wire.Get(object, "message"))
	return fmt.Sprintf("error %.20s (%q)", wire.Get(object, "code"), piece([]byte(text), nil))
}

// statusOf says the status in our words: the server's may be of any length.
func statusOf(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}
