package upstream

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// cursor is how far a stream was read, and when it may be taken up again
// (revision 2025-11-25, Transports, Resumability and Redelivery).
type cursor struct {
	last   string // event id; "" for none
	retry  time.Duration
	events int // that were messages
}

const (
	// lingerLimit is how long a stream is read behind the answer.
	lingerLimit = 5 * time.Second
	firstRetry  = time.Second
	maxRetry    = time.Hour // a server that wants more is not asked again
	resumeTries = 5         // without any progress
)

// follow reads the stream that answers a request, and takes it up again where
// the server has cut it and given the means to.
func (l *httpLink) follow(x *exchange, resp *http.Response) *Error {
	at := &cursor{retry: firstRetry}
	err := l.events(x, resp.Body, at)
	for tries := 0; x.open() && x.ctx.Err() == nil && at.last != "" && tries < resumeTries; tries++ {
		before := *at
		if reason := l.resume(x, at); reason != nil {
			return reason
		}
		if at.last != before.last || at.events != before.events {
			tries = -1
		}
	}
	if !x.open() {
		return nil
	}
	return l.http.errHTTP("upstream_stream_cut", "ended its answer before it was complete (%v)", err).with(Unknown)
}

// resume reads on from the cursor. An error means that there is no use in
// another try.
func (l *httpLink) resume(x *exchange, at *cursor) *Error {
	if l.conn.era() == Stateless {
		at.last = "" // streams of that era are not resumable
		return nil
	}
	if at.retry > maxRetry || !pause(x.ctx, at.retry) {
		at.last = ""
		return nil
	}
	resp, err := l.get(x.ctx, x.request.Header, at.last, nil)
	if err != nil {
		return nil // it may be back in a moment
	}
	defer resp.Body.Close()
	switch {
	case isStream(resp):
		_ = l.events(x, resp.Body, at)
	case x.session != "" && resp.StatusCode == http.StatusNotFound:
		l.lose()
		return l.errSessionLost().with(Unknown)
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		e := l.http.errStatus(resp, x.request.Header, readPiece(resp))
		e.Text = e.plainText() // it refuses the rest of the answer, not the request
		return e.with(Unknown)
	case resp.StatusCode/100 == 4:
		at.last = ""
	}
	return nil
}

// get asks for a stream of the initialize era; written is called when it has.
func (l *httpLink) get(ctx context.Context, forwarded http.Header, last string, written func()) (*http.Response, *Error) {
	all := l.http.headers(forwarded, acceptStream)
	l.setSession(all)
	if last != "" {
		all.Set(headerEventID, last)
	}
	return l.http.do(ctx, httpCall{method: http.MethodGet, url: l.http.endpoint, header: all, written: written})
}

func isStream(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && kind == acceptStream
}

// pause reports whether d passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// events takes the messages of a stream until it ends; x is the exchange that
// it answers, nil for none. Behind the answer it goes on for a while: other
// messages may follow, and a connection that was read to its end can be used
// again.
func (l *httpLink) events(x *exchange, body io.Reader, at *cursor) error {
	events := wire.NewSSEReader(body, l.conn.client.opts.MessageBytes)
	var origin *Request
	if x != nil {
		origin = x.request
	}
	for {
		event, err := events.Next()
		var tooLong *wire.TooLongError
		switch {
		case errors.As(err, &tooLong):
			l.conn.tooLong(origin, tooLong)
		case err != nil:
			return err
		case len(event.Data) > 0 && (event.Type == "" || event.Type == "message"):
			at.events++
			l.tools.heard(event.Data)
			l.conn.text(origin, event.Data)
		}
		at.note(event)
		if x != nil && !x.open() {
			x.linger()
		}
	}
}

func (c *cursor) note(e wire.SSEEvent) {
	if e.ID != nil {
		c.last = string(e.ID)
	}
	if e.Retry >= 0 {
		c.retry = e.Retry
	}
}

// linger ends the exchange soon.
func (x *exchange) linger() {
	if x.lingers == nil {
		x.lingers = time.AfterFunc(lingerLimit, x.cancel)
	}
}
