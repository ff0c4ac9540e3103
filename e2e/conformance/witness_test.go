package conformance

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// witness passes on what the proxy asks of its server, and remembers it.
type witness struct {
	url string

	mu   sync.Mutex
	seen []string // the bodies of the requests
}

func witnessBefore(t *testing.T, upstream string) *witness {
	t.Helper()
	target, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{}
	quiet := log.New(io.Discard, "", 0) // it tells of every cancelled call
	forward := &httputil.ReverseProxy{FlushInterval: -1, ErrorLog: quiet, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, target.Host
	}}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.note(r)
		forward.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL + target.Path
	return w
}

func (w *witness) note(r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, string(body))
}

// saw returns the first request that holds the text, "" if none did.
func (w *witness) saw(text string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.IndexFunc(w.seen, func(body string) bool { return strings.Contains(body, text) }); i >= 0 {
		return w.seen[i]
	}
	return ""
}
