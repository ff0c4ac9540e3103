package e2e

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Tokens of the tests. Alice has two.
const (
	aliceToken  = "tok-alice-1f6e0c2b9d"
	aliceSecond = "tok-alice-77aa90ce41"
	bobToken    = "tok-bob-5b1d3e8f02"
)

// tokensFile has a line for each name and token, and is what it says at once.
func tokensFile(t testing.TB, pairs ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.txt")
	replaceTokens(t, path, pairs...)
	return path
}

// replaceTokens puts another file in the place of the former one, as careful
// tools do.
func replaceTokens(t testing.TB, path string, pairs ...string) {
	t.Helper()
	var text strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&text, "%s sha256:%x\n", pairs[i], sha256.Sum256([]byte(pairs[i+1])))
	}
	if err := os.WriteFile(path+".new", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// withTokens has the proxy admit Alice, with either of her tokens, and Bob.
func withTokens(t testing.TB, p *proxied) (file string) {
	t.Helper()
	file = tokensFile(t, "alice", aliceToken, "bob", bobToken, "alice", aliceSecond)
	p.Flags = append(p.Flags, "--tokens", file)
	return file
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// joinAs is a host all of whose requests have these headers.
func (l *listening) joinAs(header http.Header) *host {
	l.t.Helper()
	h := l.join()
	client := h.stdin.(*httpWire).client
	client.Transport = dressed{client.Transport, header}
	return h
}

// dressed adds headers to every request.
type dressed struct {
	http.RoundTripper
	header http.Header
}

func (d dressed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, d.header)
	return d.RoundTripper.RoundTrip(r)
}

// as is a request with more headers.
func (r rawRequest) as(header http.Header) rawRequest {
	merged := http.Header{}
	maps.Copy(merged, r.Header)
	maps.Copy(merged, header)
	r.Header = merged
	return r
}

// challenged insists on a 401 whose challenge a client of the Go SDK can read,
// and returns its parameters.
func (a rawAnswer) challenged(t testing.TB, code string) map[string]string {
	t.Helper()
	all, err := oauthex.ParseWWWAuthenticate(a.Header.Values("WWW-Authenticate"))
	if a.Status != http.StatusUnauthorized || err != nil || len(all) != 1 || all[0].Scheme != "bearer" {
		t.Errorf("status %d, challenges %v, %v: %s", a.Status, all, err, cut(a.Body))
		return nil
	}
	if got := all[0].Params["error"]; got != code {
		t.Errorf("the challenge has error %q, want %q", got, code)
	}
	if !strings.Contains(a.Body, "proxy refused") || !strings.Contains(a.Body, "nothing was sent to the upstream server") {
		t.Errorf("the text does not say who refused and what became of the work: %s", a.Body)
	}
	return all[0].Params
}

// until repeats a request, on a connection of its own each time, for as long as
// good says no to its answer.
func (l *listening) until(t testing.TB, what string, r rawRequest, good func(rawAnswer) bool) {
	t.Helper()
	late, again := time.NewTimer(patience), time.NewTicker(100*time.Millisecond)
	defer late.Stop()
	defer again.Stop()
	for !good(l.do(t, r.as(http.Header{"Connection": {"close"}}))) {
		select {
		case <-again.C:
		case <-late.C:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func isOK(a rawAnswer) bool { return a.Status == http.StatusOK }

// taskRequests are those that name a task.
func taskRequests(id string) map[string]string {
	return map[string]string{
		"tasks/get":    declared.request("1", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)),
		"tasks/update": declared.request("1", "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{}}`, id)),
		"tasks/cancel": declared.request("1", "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id)),
	}
}

// checkForeign insists that a task is to somebody what an id is that nobody was
// ever given, to the byte.
func (l *listening) checkForeign(t testing.TB, id string, stranger http.Header) {
	t.Helper()
	unknown := strings.Map(func(c rune) rune {
		if c >= 'a' && c < 'z' || c >= 'A' && c < 'Z' {
			return c + 1
		}
		return c
	}, id)
	for method, foreign := range taskRequests(id) {
		a := l.do(t, rawRequest{Body: foreign}.as(stranger))
		b := l.do(t, rawRequest{Body: taskRequests(unknown)[method]}.as(stranger))
		a.refusedWith(t, http.StatusBadRequest, -32602)
		if strings.ReplaceAll(a.Body, id, "ID") != strings.ReplaceAll(b.Body, unknown, "ID") || a.Status != b.Status {
			t.Errorf("%s of a foreign id: %d %s\nof an unknown one: %d %s", method, a.Status, a.Body, b.Status, b.Body)
		}
	}
}
