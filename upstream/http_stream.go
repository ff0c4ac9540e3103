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

const (
	// lingerLimit is how long a stream is read behind the answer.
	lingerLimit = 5 * time.Second
	maxRetry    = time.Hour // a server that wants more is not asked again
)

// follow reads the stream that answers a request, and takes it up again where
// the server has ended it and given the means to: servers may do so at any
// time, and have their clients poll (revision 2025-11-25, Transports, Sending
// Messages to the Server).
func (l *httpLink) follow(x *exchange, resp *http.Response) *Error {
	at := &cursor{retry: firstRetry}
	err := l.events(x, resp.Body, at)
	for x.open() && l.conn.era() != Stateless && at.goesOn() && pause(x.ctx, at.wait()) {
		if reason := l.resume(x, at); reason != nil {
			return reason
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
	resp, err := l.get(x.ctx, x.request.Header, at.last)
	if err != nil {
		at.failed()
		return nil
	}
	defer resp.Body.Close()
	switch {
	case isStream(resp):
		before, began := *at, time.Now()
		err := l.events(x, resp.Body, at)
		at.ended(before, err == io.EOF || time.Since(began) > longestRetry)
	case x.session != "" && resp.StatusCode == http.StatusNotFound:
		l.lose()
		return l.errSessionLost(statusOf(resp)).with(Unknown)
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		e := l.http.errStatus(resp, x.request.Header, readPiece(resp))
		e.Text = e.plainText() // it refuses the rest of the answer, not the request
		return e.with(Unknown)
	case refusesForGood(resp.StatusCode):
		at.last = ""
	default:
		at.failed()
	}
	return nil
}

// refusesForGood leaves out what may be otherwise in a moment.
func refusesForGood(status int) bool {
	return status/100 == 4 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}

// get asks for a stream of the initialize era.
func (l *httpLink) get(ctx context.Context, forwarded http.Header, last string) (*http.Response, *Error) {
	all := l.http.headers(forwarded, acceptStream)
	l.setSession(all)
	if last != "" {
		all.Set(headerEventID, last)
	}
	return l.http.do(ctx, httpCall{method: http.MethodGet, url: l.http.endpoint, header: all})
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

// linger ends the exchange soon.
func (x *exchange) linger() {
	if x.lingers == nil {
		x.lingers = time.AfterFunc(lingerLimit, x.cancel)
	}
}
