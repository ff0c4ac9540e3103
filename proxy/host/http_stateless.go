package host

import (
	"net/http"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// postStateless serves what stands by itself. The core protocol has no
// notifications that go this way, and names no headers for them.
func (h *HTTP) postStateless(w http.ResponseWriter, r *http.Request, m wire.Message) {
	switch {
	case m.IsRequest():
		h.requestStateless(w, r, m)
	case m.IsNotification():
		w.WriteHeader(http.StatusAccepted)
	default:
		h.refuse(w, refuse(http.StatusBadRequest, wire.CodeInvalidRequest, "A response: in this revision only requests and notifications are sent to a server."))
	}
}

func (h *HTTP) requestStateless(w http.ResponseWriter, r *http.Request, m wire.Message) {
	if err := h.vet(r, m); err != nil {
		h.refuse(w, refuseWith(err).to(m))
		return
	}
	g, leave, err := h.guests.stateless(h.owner(r), wire.Lookup(m.Params(), "_meta", metaCapabilities))
	if err != nil {
		h.refuse(w, (&refusal{status: http.StatusServiceUnavailable, err: err}).to(m))
		return
	}
	defer leave()
	if m.Method() == "tools/call" {
		err = g.stateless.checkParams(r.Context(), m, r.Header, h.passedOn(r))
	}
	if err != nil {
		h.refuse(w, refuseWith(err).to(m))
		return
	}
	h.conduct(w, r, g, m, g.stateless.serve)
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
