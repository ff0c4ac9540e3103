package host

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// responseWriter writes one HTTP response. A client that takes nothing for
// slow is given up; a stream that moves may last for ever.
type responseWriter struct {
	w         http.ResponseWriter
	rc        *http.ResponseController
	keepAlive time.Duration
	slow      time.Duration
	streaming bool
	preferred bool // the client would rather have a stream
	err       error
}

func (h *HTTP) responseWriter(w http.ResponseWriter) *responseWriter {
	return &responseWriter{w: w, rc: http.NewResponseController(w), keepAlive: h.opts.KeepAlive, slow: h.opts.SlowClient}
}

// asObject writes a response that nothing came before as an object, unless the
// client would rather have a stream: a status other than 200 is not to be had
// from one. It reports whether it did.
func (o *responseWriter) asObject(status func(text []byte) int, text []byte) bool {
	if o.streaming {
		return false
	}
	code := status(text)
	if o.preferred && code == http.StatusOK {
		return false
	}
	o.object(code, text)
	return true
}

func (o *responseWriter) object(status int, text []byte) {
	o.w.Header().Set("Content-Type", "application/json")
	o.w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	o.w.WriteHeader(status)
	o.write(text)
	o.flush()
}

// open begins a stream of events; it reports whether that was to do.
func (o *responseWriter) open() bool {
	if o.streaming {
		return false
	}
	o.streaming = true
	o.w.Header().Set("Content-Type", "text/event-stream")
	o.w.Header().Set("Cache-Control", "no-cache, no-transform")
	o.w.Header().Set("X-Accel-Buffering", "no") // revision 2026-07-28, Streamable HTTP, Receiving Messages
	o.w.WriteHeader(http.StatusOK)
	return true
}

// event writes one message on one line.
func (o *responseWriter) event(id string, text []byte) {
	if id != "" {
		o.write([]byte("id: " + id + "\n"))
	}
	o.write([]byte("data: "))
	o.write(oneLine(text))
	o.write([]byte("\n\n"))
}

// prime writes the event that only says how to come back.
func (o *responseWriter) prime(id string) {
	o.write([]byte("id: " + id + "\nretry: 1000\ndata: \n\n"))
}

// comment keeps a silent stream alive (revision 2026-07-28, Streamable HTTP,
// Receiving Messages).
func (o *responseWriter) comment() {
	o.write([]byte(": still working\n\n"))
	o.flush()
}

// chunk is what a client has to take within the slow time, in bytes.
const chunk = 64 << 10

func (o *responseWriter) write(text []byte) {
	for len(text) > 0 && o.err == nil {
		part := text[:min(len(text), chunk)]
		text = text[len(part):]
		_ = o.rc.SetWriteDeadline(time.Now().Add(o.slow)) // what has none has no slow clients
		_, o.err = o.w.Write(part)
	}
}

func (o *responseWriter) flush() {
	if o.err == nil {
		o.err = o.rc.Flush()
	}
	_ = o.rc.SetWriteDeadline(time.Time{})
}

// abort cuts the connection, so that the client does not take what it has for
// all.
func (o *responseWriter) abort() { panic(http.ErrAbortHandler) }

// oneLine replaces line ends, white space between the tokens of JSON, as a
// data line must hold none.
func oneLine(text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	line := bytes.ReplaceAll(text, []byte{'\n'}, []byte{' '})
	return bytes.ReplaceAll(line, []byte{'\r'}, []byte{' '})
}
