package upstream

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// opened begins to listen to the server as soon as the session is open
// (revision 2025-11-25, Transports, Listening for Messages from the Server).
// It waits a moment until the server has opened the stream: what it sends upon
// the first request must not come before there is one. Some servers say nothing
// before they have something to say.
func (l *httpLink) opened(ctx context.Context, m wire.Message) {
	if m.Method() != "notifications/initialized" {
		return
	}
	l.state.Lock()
	first := !l.listening
	l.listening = true
	l.state.Unlock()
	if !first {
		return
	}
	asked := make(chan struct{})
	l.work.Go(func() { l.listen(sync.OnceFunc(func() { close(asked) })) }) // its caller is counted, so nobody has stopped waiting
	moment := time.NewTimer(openLimit)
	defer moment.Stop()
	select {
	case <-asked:
	case <-moment.C:
	case <-ctx.Done():
	}
}

const (
	openLimit    = 500 * time.Millisecond
	longestRetry = 30 * time.Second
	listenTries  = 5 // to get the first stream from a server that is in trouble
)

// listen keeps the stream for the server's own messages open for as long as
// the session lasts. A server without one says so at the first try.
func (l *httpLink) listen(asked func()) {
	at := &cursor{retry: firstRetry}
	wait := time.Duration(0)
	for tries, had := 0, false; had || tries < listenTries; tries++ {
		began, events := time.Now(), at.events
		opened, none := l.listenOnce(at, had, asked)
		had = had || opened
		if none || l.listenCtx.Err() != nil {
			return
		}
		if at.events > events || time.Since(began) > longestRetry {
			wait = 0
		}
		wait = max(at.retry, min(2*wait, longestRetry))
		if !pause(l.listenCtx, wait) {
			return
		}
	}
}

// listenOnce reports whether the server had a stream, and whether it has none
// for us for good.
func (l *httpLink) listenOnce(at *cursor, had bool, asked func()) (opened, none bool) {
	session, _ := l.known()
	resp, err := l.get(l.listenCtx, l.conn.client.forwarded(), at.last)
	asked()
	if err != nil {
		return false, false
	}
	defer resp.Body.Close()
	switch {
	case isStream(resp):
		err := l.events(nil, resp.Body, at)
		l.conn.log.Debug().Err(err).Msg("the upstream server's own stream ended")
		return true, false
	case had && session != "" && resp.StatusCode == http.StatusNotFound:
		l.lose()
		return false, true
	}
	// Many servers have no such stream and do not say so with 405 alone.
	return false, !had && resp.StatusCode/100 != 5 || resp.StatusCode == http.StatusMethodNotAllowed
}
