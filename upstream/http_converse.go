package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// converse posts a request and takes what comes back.
func (l *httpLink) converse(x *exchange) *Error {
	x.session, _ = l.known()
	resp, err := l.http.do(x.ctx, httpCall{
		method: http.MethodPost, url: l.http.endpoint, header: l.requestHeaders(x),
		body: x.message.Raw(), once: x.isCall(), written: x.wrote,
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	x.wrote()
	if resp.StatusCode/100 != 2 {
		return l.refused(x, resp)
	}
	return l.accepted(x, resp)
}

// isCall reports whether the request must not be sent twice.
func (x *exchange) isCall() bool { return x.message.Method() == "tools/call" }

func (l *httpLink) requestHeaders(x *exchange) http.Header {
	all := l.http.headers(x.request.Header, acceptBoth)
	all.Set("Content-Type", "application/json")
	switch {
	case l.conn.era() != Stateless && x.message.Method() != "server/discover":
		l.setSession(all)
	case x.isCall():
		l.mirrorArguments(all, x)
		fallthrough
	default:
		repeat(all, x.message)
	}
	return all
}

// setSession: revision 2025-11-25, Transports, Session Management and Protocol
// Version Header.
func (l *httpLink) setSession(all http.Header) {
	session, version := l.known()
	if session != "" {
		all.Set(headerSession, session)
	}
	if version != "" {
		all.Set(mirror.HeaderVersion, version)
	}
}

// sessionHeaders are those of the session's own requests in the initialize era.
func (l *httpLink) sessionHeaders(accept string) http.Header {
	all := l.http.headers(l.conn.client.forwarded(), accept)
	l.setSession(all)
	return all
}

// accepted takes the response of a server that had no objection (revision
// 2026-07-28, Streamable HTTP, Receiving Messages).
func (l *httpLink) accepted(x *exchange, resp *http.Response) *Error {
	if x.message.Method() == "initialize" {
		l.state.Lock()
		l.session = resp.Header.Get(headerSession)
		l.state.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == acceptStream {
		l.try(x, func() string { return statusOf(resp) + ", an event stream" })
		return l.follow(x, resp)
	}
	body, err := l.whole(resp)
	if err != nil {
		return err
	}
	if text := bytes.TrimSpace(body); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return l.errNoMessage(x, resp, kind, text)
	}
	l.try(x, func() string { return statusOf(resp) + quoted(l.http.piece(body, x.request.Header)) })
	l.conn.text(x.request, body)
	if x.open() {
		return errMalformed(errors.New("it holds no response to the request"))
	}
	return nil
}

// whole reads a response that is no stream.
func (l *httpLink) whole(resp *http.Response) ([]byte, *Error) {
	limit := l.conn.client.opts.MessageBytes
	body, err := wire.ReadAll(io.LimitReader(resp.Body, int64(limit)+1), resp.ContentLength)
	switch {
	case len(body) > limit:
		return nil, errTooLarge(&overlongBody{limit})
	case err != nil:
		return nil, l.http.errHTTP("upstream_stream_cut", "cut its answer off: %v", err).with(Unknown)
	}
	return body, nil
}

// refused takes the response of a server that answered with an error status.
// A JSON-RPC error in it is the answer, whatever id it bears; all else is the
// word of something on the way, or of a server that does not know what we are.
func (l *httpLink) refused(x *exchange, resp *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	answer, ok := refusalFor(x.request, body)
	switch {
	case l.isGone(x, verdictOn(resp.StatusCode, x.message.ID(), body)):
		return l.lostOn(x, statusOf(resp)+quoted(l.http.piece(body, x.request.Header)))
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden, !ok:
		return l.http.errStatus(resp, x.request.Header, body)
	case l.wantsAgain(x, answer):
		x.asked = true
		return l.converse(x)
	}
	l.try(x, func() string { return statusOf(resp) + ", " + l.http.refusalText(answer.Err(), x.request.Header) })
	l.conn.trace("from upstream", answer.Raw())
	l.conn.receive(x.request, answer)
	return nil
}

// maxRefusal is what is read of a response with an error status.
const maxRefusal = 1 << 20

// refusalFor reads a JSON-RPC error as the response to r.
func refusalFor(r *Request, body []byte) (answer wire.Message, ok bool) {
	m, err := wire.Parse(body)
	if !wire.IsObject(m.Err()) || err != nil && !errors.Is(err, wire.ErrNotMessage) {
		return m, false
	}
	ours := wire.Request(r.id, "x", nil).ID()
	if err == nil {
		return m.With(wire.Changes{ID: ours}), true
	}
	// An id that is null, or none, is for requests that could not be read.
	text := wire.Set(wire.Set(wire.Set(nil, "error", m.Err()), "id", ours), "jsonrpc", []byte(`"2.0"`))
	m, err = wire.Parse(text)
	return m, err == nil
}

// wantsAgain reports whether the server refuses our revision in one breath and
// offers it in the next. Reading twice does no harm.
func (l *httpLink) wantsAgain(x *exchange, answer wire.Message) bool {
	if x.asked || x.isCall() || string(wire.Get(answer.Err(), "code")) != "-32022" {
		return false
	}
	for _, v := range stringsOf(wire.Lookup(answer.Err(), "data", "supported")) {
		if v == version {
			return true
		}
	}
	return false
}

// postNotice posts what wants no answer.
func (l *httpLink) postNotice(ctx context.Context, m wire.Message) *rebuff {
	forwarded := l.conn.client.forwarded()
	all := l.noticeHeaders(m, forwarded)
	resp, err := l.http.do(ctx, httpCall{method: http.MethodPost, url: l.http.endpoint, header: all, body: m.Raw(), once: true})
	if err != nil {
		return unsent(err)
	}
	defer drop(resp)
	if resp.StatusCode/100 == 2 {
		l.opened(ctx, m)
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if all.Get(headerSession) != "" && verdictOn(resp.StatusCode, nil, body).sessionGone() {
		l.lose()
		return &rebuff{Error: l.errSessionLost(statusOf(resp) + quoted(l.http.piece(body, forwarded))).with(Unknown)}
	}
	return l.http.rebuff(resp, forwarded, body)
}

func (l *httpLink) noticeHeaders(m wire.Message, forwarded http.Header) http.Header {
	all := l.http.headers(forwarded, acceptBoth)
	all.Set("Content-Type", "application/json")
	if l.conn.era() == Stateless {
		repeat(all, m)
	} else {
		l.setSession(all)
	}
	return all
}
