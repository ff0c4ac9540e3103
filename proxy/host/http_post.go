package host

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// post takes one message and goes by how it opens: per-request _meta, or a
// header that names the revision, means the stateless era.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	m, refused := h.read(w, r)
	if refused != nil {
		h.refuse(w, refused)
		return
	}
	switch {
	case h.closing.Load():
		h.refuse(w, (&refusal{status: http.StatusServiceUnavailable, err: shuttingDown()}).to(m))
	case opensStateless(m) || namesStateless(r):
		h.postStateless(w, r, m)
	case m.Method() == "initialize" && m.IsRequest():
		h.openSession(w, r, m)
	default:
		h.postInSession(w, r, m)
	}
}

// read takes the body, one message.
func (h *HTTP) read(w http.ResponseWriter, r *http.Request) (wire.Message, *refusal) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return wire.Message{}, refuse(http.StatusUnsupportedMediaType, wire.CodeInvalidRequest, "Content-Type must be application/json.")
	}
	if !accepts(r, "application/json", "text/event-stream") {
		return wire.Message{}, refuse(http.StatusNotAcceptable, wire.CodeInvalidRequest, "Accept must list both application/json and text/event-stream.")
	}
	body, refused := h.readBody(w, r)
	if refused != nil {
		return wire.Message{}, refused
	}
	m, err := wire.Parse(body)
	switch {
	case errors.Is(err, wire.ErrNotJSON):
		return m, refuse(http.StatusBadRequest, wire.CodeParse, "%v", err)
	case err != nil && len(wire.Elements(body)) > 0:
		return m, refuse(http.StatusBadRequest, wire.CodeInvalidRequest, "A batch: send one message a POST.")
	case err != nil:
		refused = refuse(http.StatusBadRequest, wire.CodeInvalidRequest, "%v", err)
		refused.id = m.ID()
		return m, refused
	}
	h.trace("from host", body)
	return m, nil
}

func (h *HTTP) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	steady := &steadyReader{http.MaxBytesReader(w, r.Body, int64(h.opts.MessageBytes)), http.NewResponseController(w), h.opts.SlowClient}
	body, err := io.ReadAll(steady)
	if err == nil { // else the server would wait for the rest without end
		_ = steady.rc.SetReadDeadline(time.Time{})
	}
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		refused := &refusal{status: http.StatusRequestEntityTooLarge}
		refused.err = refusedLength(&wire.TooLongError{Size: max(r.ContentLength, tooLong.Limit+1), Limit: int(tooLong.Limit)})
		return nil, refused
	case err != nil:
		return nil, refuse(http.StatusBadRequest, wire.CodeInvalidRequest, "The body did not arrive whole.")
	}
	return body, nil
}

// steadyReader gives up on a client that sends nothing for a while, not on one
// that sends much.
type steadyReader struct {
	io.Reader
	rc   *http.ResponseController
	slow time.Duration
}

func (s *steadyReader) Read(p []byte) (int, error) {
	_ = s.rc.SetReadDeadline(time.Now().Add(s.slow)) // what has none has no slow clients
	return s.Reader.Read(p)
}

func (h *HTTP) trace(what string, text []byte) {
	if h.opts.LogPayloads {
		h.opts.Log.Info().Bytes("payload", text).Msg(what)
	}
}

// postStateless serves a request that stands by itself.
func (h *HTTP) postStateless(w http.ResponseWriter, r *http.Request, m wire.Message) {
	if !m.IsRequest() && !m.IsNotification() {
		h.refuse(w, refuse(http.StatusBadRequest, wire.CodeInvalidRequest, "A response: in this revision only requests and notifications are sent to a server."))
		return
	}
	if m.IsNotification() { // the core protocol has none, and names no headers for them
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if err := h.vet(r, m); err != nil {
		h.refuse(w, (&refusal{status: httpStatus(wire.Failure(noID, err).Raw()), err: err}).to(m))
		return
	}
	g, leave, err := h.guests.stateless(h.owner(r), wire.Lookup(m.Params(), "_meta", metaCapabilities))
	if err != nil {
		h.refuse(w, (&refusal{status: http.StatusServiceUnavailable, err: err}).to(m))
		return
	}
	defer leave()
	if m.Method() == "tools/call" {
		if err := g.stateless.checkParams(r.Context(), m, r.Header, h.passedOn(r)); err != nil {
			h.refuse(w, (&refusal{status: httpStatus(wire.Failure(noID, err).Raw()), err: err}).to(m))
			return
		}
	}
	h.conduct(w, r, g, m, g.stateless.serve, httpStatus)
}

// vet looks at what can be told without a session.
func (h *HTTP) vet(r *http.Request, m wire.Message) *wire.Error {
	if err := checkHeaders(r.Header, m); err != nil {
		return err
	}
	if removed[m.Method()] {
		return removedMethod(m)
	}
	_, err := readSender(m)
	return err
}

func (h *HTTP) owner(r *http.Request) string {
	if h.opts.Owner == nil {
		return ""
	}
	return h.opts.Owner(r)
}

// conduct serves a request and stays until the answer is written. A client
// that closes the stream of a stateless request has cancelled it (revision
// 2026-07-28, Streamable HTTP, Cancellation); in a session of the initialize
// era it has not (2025-11-25, Transports, Sending Messages to the Server).
func (h *HTTP) conduct(w http.ResponseWriter, r *http.Request, g *guest, m wire.Message, serve func(exchange) canceller, status func([]byte) int) {
	a, flight, out := newAnswer(""), g.inflight.begin(m.ID()), h.responseWriter(w)
	if g.streams != nil {
		a = g.streams.newAnswer(r)
		g.streams.ask(a)
		defer func() { g.streams.pastIt(a, out.streaming) }()
	}
	passed := h.passedOn(r)
	g.client.Forward(passed) // the greeting comes before the request that it is made for
	cancel := serve(exchange{
		request: m, header: passed,
		notify: func(n wire.Message) {
			h.trace("to host", n.Raw())
			if !a.notify(n) && n.IsRequest() && g.streams != nil {
				g.streams.send(n)
			}
		},
		reply: func(response wire.Message) bool {
			return g.inflight.answer(flight, func() {
				text := response.Rewrite(wire.Changes{ID: m.ID()})
				h.trace("to host", text)
				a.put(text, true, false)
			})
		},
	})
	if cancel != nil {
		g.inflight.cancellable(flight, func(notice wire.Message) { a.end(); cancel(notice) })
	}
	if prefersStream(r) {
		a.begin(out)
	}
	a.serve(r, out, 0, status)
	if g.stateless != nil {
		g.inflight.withdraw(flight, wire.Notification("notifications/cancelled", []byte(`{"reason":"the client closed the response stream"}`)))
	}
}

// passedOn are the headers of the host that the upstream server gets too. What
// Connection names ends here (RFC 9110, section 7.6.1).
func (h *HTTP) passedOn(r *http.Request) http.Header {
	passed := http.Header{}
	for _, name := range h.opts.Forward {
		if values := r.Header.Values(name); len(values) > 0 && !httpguts.HeaderValuesContainsToken(r.Header["Connection"], name) {
			passed[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	return passed
}
