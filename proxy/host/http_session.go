package host

import (
	"net/http"
	"slices"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

const headerSession = "Mcp-Session-Id"

// openSession serves initialize (revision 2025-11-25, Transports, Session
// Management).
func (h *HTTP) openSession(w http.ResponseWriter, r *http.Request, m wire.Message) {
	g, leave, err := h.guests.open(h.owner(r), m.Params())
	if err != nil {
		h.refuse(w, (&refusal{status: http.StatusServiceUnavailable, err: err}).to(m))
		return
	}
	defer leave()
	w.Header().Set(headerSession, g.key)
	h.conduct(w, r, g, m, func(x exchange) canceller {
		reply := x.reply
		x.reply = func(response wire.Message) bool {
			if response.Err() != nil {
				defer h.guests.remove(g)
			}
			return reply(response)
		}
		return g.session.initialize(x)
	})
}

// sessionOf finds the session that a request names. One of another owner does
// not exist.
func (h *HTTP) sessionOf(r *http.Request) (g *guest, leave func(), refused *refusal) {
	ids := r.Header.Values(headerSession)
	if len(ids) != 1 {
		return nil, nil, refuse(http.StatusBadRequest, wire.CodeInvalidRequest,
			"%s is required, once: send initialize first. (Requests of revision %s need none; they carry params._meta.)", headerSession, statelessVersions[0])
	}
	if version := r.Header.Get(mirror.HeaderVersion); version != "" && !slices.Contains(initializeVersions, version) {
		return nil, nil, refuse(http.StatusBadRequest, wire.CodeInvalidRequest, "MCP-Protocol-Version %.30q is no revision that has sessions.", version)
	}
	g, leave, ok := h.guests.enter(ids[0], h.owner(r))
	if !ok {
		return nil, nil, refuse(http.StatusNotFound, codeNoSession, "The session is unknown or has ended: send initialize again.")
	}
	return g, leave, nil
}

// codeNoSession is what other servers give for it; no revision names a code.
const codeNoSession = -32001

func (h *HTTP) postInSession(w http.ResponseWriter, r *http.Request, m wire.Message) {
	g, leave, refused := h.sessionOf(r)
	if refused != nil {
		h.refuse(w, refused.to(m))
		return
	}
	defer leave()
	if m.IsRequest() {
		h.conduct(w, r, g, m, g.session.serve)
		return
	}
	g.take(m)
	w.WriteHeader(http.StatusAccepted)
}

// take is for what is not answered.
func (g *guest) take(m wire.Message) {
	switch {
	case m.Method() == "notifications/cancelled":
		g.inflight.cancel(wire.Get(m.Params(), "requestId"), m)
	case m.IsNotification():
		g.session.notification(m)
	default:
		g.session.response(m)
	}
}

// endSession serves DELETE.
func (h *HTTP) endSession(w http.ResponseWriter, r *http.Request) {
	g, leave, refused := h.sessionOf(r)
	if refused != nil {
		h.refuse(w, refused)
		return
	}
	defer leave()
	h.guests.remove(g)
	w.WriteHeader(http.StatusNoContent)
}
