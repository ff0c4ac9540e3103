package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// listening is a proxy that serves hosts over HTTP. Of its process nothing is
// taken but the log, and nothing may come on its stdout.
type listening struct {
	*host
	url string // of the endpoint
}

// listen starts the proxy and waits until it listens.
func (p *proxied) listen(t testing.TB) *listening {
	t.Helper()
	l := &listening{host: startHostWith(t, p.Host, p.listeningArgv(t)...)}
	l.await("the proxy to listen", func() bool {
		select {
		case <-l.exited:
			t.Fatalf("the proxy has ended:\n%s", l.stderr())
		default:
		}
		l.url = l.logged("listening", "url")
		return l.url != ""
	})
	return l
}

func (p *proxied) listeningArgv(t testing.TB) []string {
	q := *p
	if !slices.Contains(q.Flags, "--listen") {
		q.Flags = append([]string{"--listen", "127.0.0.1:0"}, q.Flags...)
	}
	return q.argv(t)
}

// logged is a member of the first line of the log with this message.
func (h *host) logged(text, member string) string {
	for line := range strings.Lines(h.stderr()) {
		var entry map[string]any
		if json.Unmarshal([]byte(line), &entry) == nil && entry["message"] == text {
			value, _ := entry[member].(string)
			return value
		}
	}
	return ""
}

// startHTTP is start for a host over HTTP. Closing its stdin means SIGTERM.
func (p *proxied) startHTTP(t testing.TB) *host {
	t.Helper()
	return p.listen(t).join()
}

// join is one more host of the proxy, with an HTTP client of its own. What it
// is told in lines goes out as that client's requests.
func (l *listening) join() *host {
	l.t.Helper()
	h := &host{t: l.t, cmd: l.cmd, exited: l.exited, changed: make(chan struct{}), over: l.host, breaker: excused(l.t)}
	w := newHTTPWire(h, l.url)
	h.stdin = w
	h.readers.Go(func() {
		select {
		case <-h.exited:
		case <-w.ctx.Done():
		}
		w.work.Wait()
		h.end()
	})
	l.t.Cleanup(func() {
		w.stop()
		h.readers.Wait()
		h.report()
	})
	return h
}
