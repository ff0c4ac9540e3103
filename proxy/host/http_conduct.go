package host

import (
	"net/http"
	"slices"

	"golang.org/x/net/http/httpguts"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// conduct serves a request and stays until the answer is written.
func (h *HTTP) conduct(w http.ResponseWriter, r *http.Request, g *guest, m wire.Message, serve func(exchange) canceller) {
	a, out := g.newAnswer(r, m), h.responseWriter(w)
	flight := g.inflight.begin(m.ID(), func(response wire.Message) {
		text := response.Rewrite(wire.Changes{ID: m.ID()})
		h.opts.trace("to host", text)
		a.put(text, true, false)
	})
	defer func() { h.conducted(g, a, flight, out) }() // also when the connection is cut
	x := h.exchange(r, g, m, a, flight)
	g.client.Forward(x.header) // the greeting comes before the request that it is made for
	if cancel := serve(x); cancel != nil {
		g.inflight.cancellable(flight, func(notice wire.Message, then func(upstream.Outcome)) {
			if then == nil { // else there is an answer yet
				a.end()
			}
			cancel(notice, then)
		})
	}
	status := httpStatus
	if g.session != nil {
		status = statusOK
	}
	if out.preferred = prefersStream(r); out.preferred && a.name != "" {
		a.begin(out) // what is cut from now on can be taken up again
	}
	a.serve(r, out, 0, status)
}

// conducted is for the end of the response. A client that closes the stream of
// a stateless request has cancelled it (revision 2026-07-28, Streamable HTTP,
// Cancellation); in a session of the initialize era it has not (2025-11-25,
// Transports, Sending Messages to the Server).
func (h *HTTP) conducted(g *guest, a *answer, flight *flight, out *responseWriter) {
	if a.isDropped() {
		h.opts.Log.Warn().Int("limit", maxUnread).Msg("gave up a client that does not read its stream")
	}
	if g.streams != nil {
		g.streams.pastIt(a, out.streaming)
		return
	}
	g.inflight.withdraw(flight, wire.Notification("notifications/cancelled", []byte(`{"reason":"the client closed the response stream"}`)))
}

func (g *guest) newAnswer(r *http.Request, m wire.Message) *answer {
	if g.streams == nil {
		return newAnswer("")
	}
	a := g.streams.newAnswer(r)
	g.streams.ask(a, m)
	return a
}

// exchange is the request and the way back to the client. What comes too late
// for its own stream goes to another one of the session; progress is worth
// nothing there.
func (h *HTTP) exchange(r *http.Request, g *guest, m wire.Message, a *answer, flight *flight) exchange {
	x := exchange{request: m, header: h.passedOn(r), caughtUp: a.caughtUp}
	x.notify = func(n wire.Message) {
		h.opts.trace("to host", n.Raw())
		if !a.notify(n) && g.streams != nil && n.Method() != "notifications/progress" {
			g.streams.send(n)
		}
	}
	x.reply = func(response wire.Message) bool { return g.inflight.answer(flight, response) }
	return x
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
