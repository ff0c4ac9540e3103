package upstream

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// overlongBody is an answer of which nobody knows how long it goes on.
type overlongBody struct{ limit int }

func (e *overlongBody) Error() string {
	return fmt.Sprintf("it is over the limit of %d bytes", e.limit)
}

// outcomeOf says what an error status means for the work: there are those with
// which a server refuses to begin, and those behind which it may have begun.
func outcomeOf(resp *http.Response, body []byte) Outcome {
	switch status := resp.StatusCode; {
	case status == http.StatusRequestTimeout:
		return Unknown
	case status == http.StatusServiceUnavailable:
		return outcomeOf503(resp, body)
	case status/100 == 4, status == http.StatusNotImplemented:
		return NotDispatched
	}
	return Unknown
}

// outcomeOf503: a proxy on the way says 503 also of a server that fell silent
// with the request in its hands. Only who says when to come back, or says it in
// JSON-RPC, has refused it himself.
func outcomeOf503(resp *http.Response, body []byte) Outcome {
	if resp.Header.Get("Retry-After") != "" || verdictOn(resp.StatusCode, nil, body).code != "" {
		return NotDispatched
	}
	return Unknown
}

// errStatus is for an error status without a JSON-RPC error.
func (h *httpClient) errStatus(resp *http.Response, forwarded http.Header, body []byte) *Error {
	said := h.piece(body, forwarded)
	e := h.errHTTP("upstream_http", "answered with %s%s", statusOf(resp), quoted(said))
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		e = h.errHTTP("upstream_unauthorized", "answered with %s%s. %s", statusOf(resp), quoted(said), h.whose(forwarded))
	}
	e.Status, e.Body = resp.StatusCode, said
	return e.with(outcomeOf(resp, body))
}

// whose says whose credentials were refused.
func (h *httpClient) whose(forwarded http.Header) string {
	switch {
	case h.static.Get("Authorization") != "":
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
	said := l.http.piece(body, x.request.Header)
	e := l.http.errHTTP("upstream_http", "answered a request with %s and %s instead of a message%s. Is the URL that of its MCP endpoint?",
		statusOf(resp), kind, quoted(said))
	e.Text = strings.TrimSuffix(e.Text, ".")
	e.Status, e.Body = resp.StatusCode, said
	return e.with(Unknown)
}

// errSessionLost quotes what the server said, lest our reading of it be taken for
// its words.
func (l *httpLink) errSessionLost(said string) *Error {
	return l.http.errHTTP("upstream_session_lost", "does not know the session any more: it answered with %s. A new one is opened for the next request", said)
}

func quoted(said string) string {
	if said == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", said)
}

// readPiece reads what is said beside a status that is all that counts.
func readPiece(resp *http.Response) []byte {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return body
}

// refusalText is an error object for people.
func (h *httpClient) refusalText(object []byte, forwarded http.Header) string {
	text, _ := wire.String(wire.Get(object, "message"))
	return fmt.Sprintf("error %.20s (%q)", wire.Get(object, "code"), h.piece([]byte(text), forwarded))
}

// statusOf says the status in our words: the server's may be of any length.
func statusOf(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}
