package host

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

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
	h.opts.trace("from host", body)
	return parse(body)
}

func parse(body []byte) (wire.Message, *refusal) {
	m, err := wire.Parse(body)
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, wire.ErrNotJSON):
		return m, refuse(http.StatusBadRequest, wire.CodeParse, "%v", err)
	case len(wire.Elements(body)) > 0:
		return m, refuse(http.StatusBadRequest, wire.CodeInvalidRequest, "A batch: send one message a POST.")
	}
	refused := refuse(http.StatusBadRequest, wire.CodeInvalidRequest, "%v", err)
	refused.id = m.ID()
	return m, refused
}

func (h *HTTP) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	steady := &steadyReader{http.MaxBytesReader(w, r.Body, int64(h.opts.MessageBytes)), http.NewResponseController(w), h.opts.SlowClient}
	body, err := wire.ReadAll(steady, r.ContentLength)
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
