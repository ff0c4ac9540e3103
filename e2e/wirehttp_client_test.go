package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"syscall"
	"time"
)

// httpWire does for a host that speaks in lines what an HTTP client does that
// knows both eras: one POST a message, with the headers that the message asks
// for; in a session its id, and a stream by GET; where requests stand alone,
// the end of a response stream in place of notifications/cancelled. Every other
// request prefers a stream to a single JSON object.
type httpWire struct {
	h      *host
	url    string
	client *http.Client
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup // streams that are read

	mu       sync.Mutex
	session  string
	version  string                        // of the session
	alone    map[string]context.CancelFunc // unanswered requests without a session, by raw id
	requests int
	streams  int
}

func newHTTPWire(h *host, url string) *httpWire {
	w := &httpWire{h: h, url: url, alone: map[string]context.CancelFunc{}}
	w.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w
}

// Write takes whole lines.
func (w *httpWire) Write(lines []byte) (int, error) {
	for line := range strings.Lines(string(lines)) {
		if err := w.send(strings.TrimSuffix(line, "\n")); err != nil {
			return 0, err
		}
	}
	return len(lines), nil
}

// Close is how this host's end is told to the proxy: it has no input to close.
func (w *httpWire) Close() error { return w.h.cmd.Process.Signal(syscall.SIGTERM) }

func (w *httpWire) send(line string) error {
	m, err := parseMessage(line)
	switch {
	case err == nil && m.Method == "notifications/cancelled" && w.hangUp(m):
		return nil
	case err != nil || m.Method != "" && m.ID != nil:
		return w.request(line, m)
	}
	if err := w.tell(line, m); err != nil || m.Method != "notifications/initialized" {
		return err
	}
	return w.openStream()
}

// hangUp cancels a request that stands alone. One that is answered needs no
// cancelling.
func (w *httpWire) hangUp(m message) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	cancel := w.alone[string(at(m.Params, "requestId"))]
	if cancel != nil {
		cancel()
	}
	return cancel != nil || w.session == ""
}

// tell posts what is not answered.
func (w *httpWire) tell(line string, m message) error {
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	response, err := w.client.Do(w.post(ctx, line, m))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); response.StatusCode != http.StatusAccepted || len(body) > 0 || err != nil {
		return fmt.Errorf("answered with status %d, not 202 and no body: %s, %v", response.StatusCode, body, err)
	}
	return nil
}

// request returns when the request is written; what comes of it arrives.
func (w *httpWire) request(line string, m message) error {
	ctx, cancel := context.WithCancel(w.ctx)
	id := string(m.ID)
	if statelessVersion(m) != "" {
		w.mu.Lock()
		w.alone[id] = cancel
		w.mu.Unlock()
	}
	written := make(chan struct{})
	done := sync.OnceFunc(func() { close(written) })
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { done() }}
	r := w.post(httptrace.WithClientTrace(ctx, trace), line, m)
	w.work.Go(func() {
		defer cancel()
		defer done()
		w.read(ctx, r, m)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.alone, id)
	})
	<-written
	return nil
}

// read insists on an answer, unless the client or the proxy is gone.
func (w *httpWire) read(ctx context.Context, r *http.Request, m message) {
	err := w.exchange(r, m)
	if err == nil || ctx.Err() != nil {
		return
	}
	late := time.NewTimer(2 * time.Second)
	defer late.Stop()
	select {
	case <-w.h.exited:
	case <-w.ctx.Done():
	case <-late.C:
		w.h.t.Errorf("%s %s: %v", r.Method, cut(m.Raw), err)
	}
}

var errUnanswered = errors.New("the stream ended without an answer")

func (w *httpWire) exchange(r *http.Request, m message) error {
	response, err := w.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	stream := w.opened(response, m)
	if isStream(response) {
		return w.events(response, stream, m)
	}
	body, err := io.ReadAll(response.Body)
	if err == nil {
		err = checkObject(response, m, body)
		w.welcomed(m, string(body))
		w.h.arrivedOn(stream, string(body))
	}
	return err
}

// events reads a stream until the request is answered; one by GET has no end.
func (w *httpWire) events(response *http.Response, stream int, m message) error {
	in := newEventReader(response.Body)
	for {
		event, err := in.next()
		switch {
		case err == io.EOF && m.ID == nil:
			return nil
		case err == io.EOF:
			return errUnanswered
		case err != nil:
			return err
		case event.data == "":
			continue
		}
		w.welcomed(m, event.data)
		w.h.arrivedOn(stream, event.data)
		if got, err := parseMessage(event.data); err == nil && got.Method == "" && m.ID != nil {
			return in.end()
		}
	}
}

// openStream returns when the stream is open.
func (w *httpWire) openStream() error {
	r := w.newRequest(w.ctx, http.MethodGet, "", message{})
	r.Header.Set("Accept", "text/event-stream")
	response, err := w.client.Do(r)
	if err != nil {
		return err
	}
	if !isStream(response) {
		response.Body.Close()
		return fmt.Errorf("GET is answered with status %d and no stream", response.StatusCode)
	}
	stream := w.opened(response, message{})
	w.work.Go(func() {
		defer response.Body.Close()
		_ = w.events(response, stream, message{})
	})
	return nil
}
