package host

import (
	"net/http"
	"strconv"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// refusal is an answer that the transport gives by itself.
type refusal struct {
	status int
	id     []byte // of the request; nil where it could not be read
	err    *wire.Error
}

func refuse(status, code int, format string, args ...any) *refusal {
	return &refusal{status: status, err: wire.Errorf(code, format, args...)}
}

// to names the request that is refused, if it is one.
func (f *refusal) to(m wire.Message) *refusal {
	if m.IsRequest() {
		f.id = m.ID()
	}
	return f
}

// refuseWith has the status that goes with the error.
func refuseWith(err *wire.Error) *refusal {
	return &refusal{status: statusOfCode(strconv.Itoa(err.Code)), err: err}
}

// refuse logs no text: it may quote arguments.
func (h *HTTP) refuse(w http.ResponseWriter, f *refusal) {
	h.opts.Log.Debug().Int("status", f.status).Int("code", f.err.Code).Msg("refused a request")
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	h.responseWriter(w).object(f.status, wire.Failure(f.id, f.err).Raw())
}

// httpStatus is what revision 2026-07-28 wants of a response that stands alone
// (Streamable HTTP, Request Metadata; Base Protocol, Error Codes).
func httpStatus(response []byte) int {
	return statusOfCode(string(wire.Lookup(response, "error", "code")))
}

// statusOfCode takes the code of an error, empty for a result.
func statusOfCode(code string) int {
	switch code {
	case "-32601":
		return http.StatusNotFound
	case "-32602", "-32020", "-32021", "-32022":
		return http.StatusBadRequest
	}
	return http.StatusOK
}
