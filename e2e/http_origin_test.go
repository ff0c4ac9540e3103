package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// A page that a browser was tricked into must reach nothing: neither by its
// origin nor by a name that points at this machine (2026-07-28, Streamable
// HTTP, Security & Endpoint).
func TestPagesOfOthersAreKeptOut(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "modern")
	p.Config = "origins: [https://app.example, 'http://other.example:8080']\nhosts: [proxy.example]\n"
	l := p.listen(t)
	own := strings.TrimSuffix(l.url, "/mcp")
	port := own[strings.LastIndex(own, ":"):]
	for _, c := range []struct {
		name   string
		header http.Header
		status int
	}{
		{"no origin", nil, 200},
		{"our own origin", http.Header{"Origin": {own}}, 200},
		{"another port of this machine", http.Header{"Origin": {"http://localhost:3000"}}, 200},
		{"an allowed origin", http.Header{"Origin": {"https://app.example"}}, 200},
		{"an allowed origin in capitals", http.Header{"Origin": {"HTTPS://APP.example"}}, 200},
		{"a foreign origin", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"an allowed origin without encryption", http.Header{"Origin": {"http://app.example"}}, 403},
		{"an allowed origin's other port", http.Header{"Origin": {"http://other.example:8081"}}, 403},
		{"a name that begins like an allowed one", http.Header{"Origin": {"https://app.example.evil.example"}}, 403},
		{"a name that begins like this machine", http.Header{"Origin": {"http://localhost.evil.example"}}, 403},
		{"a user that looks like this machine", http.Header{"Origin": {"http://localhost@evil.example"}}, 403},
		{"a page without origin", http.Header{"Origin": {"null"}}, 403},
		{"an empty origin", http.Header{"Origin": {""}}, 403},
		{"two origins", http.Header{"Origin": {own, "https://evil.example"}}, 403},
		{"an extension of a browser", http.Header{"Origin": {"chrome-extension://abc"}}, 403},
		{"a foreign name for this machine", http.Header{"Host": {"evil.example"}}, 403},
		{"a foreign name with our port", http.Header{"Host": {"evil.example" + port}}, 403},
		{"a name that begins like this machine", http.Header{"Host": {"127.0.0.1.evil.example"}}, 403},
		{"a foreign address", http.Header{"Host": {"192.0.2.1" + port}}, 403},
		{"localhost", http.Header{"Host": {"localhost" + port}}, 200},
		{"the address of version 6", http.Header{"Host": {"[::1]" + port}}, 200},
		{"an allowed name", http.Header{"Host": {"proxy.example"}}, 200},
		{"an allowed name with a port", http.Header{"Host": {"Proxy.Example:443"}}, 200},
	} {
		before := seen.count("call release")
		a := l.do(t, rawRequest{Body: releaseCall, Header: c.header})
		if a.Status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, a.Status, c.status, a.Body)
		}
		if calls := seen.count("call release") - before; c.status == 403 && calls != 0 {
			t.Errorf("%s: the tool was called", c.name)
		}
		if allowed := a.Header.Get("Access-Control-Allow-Origin"); allowed == "*" || c.status == 403 && allowed != "" {
			t.Errorf("%s: a page may read the answer: %q", c.name, allowed)
		}
	}
}

// A browser asks first, without the token that it would send.
func TestPreflight(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "modern")
	p.Config = "origins: [https://app.example]\n"
	l := p.listen(t)
	ask := func(origin string) rawAnswer {
		return l.do(t, rawRequest{Method: "OPTIONS", Header: http.Header{
			"Origin": {origin}, "Access-Control-Request-Method": {"POST"},
			"Access-Control-Request-Headers": {"content-type, mcp-method"},
		}})
	}
	a := ask("https://app.example")
	if a.Status != http.StatusNoContent || a.Body != "" {
		t.Errorf("status %d, %s", a.Status, a.Body)
	}
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  "https://app.example",
		"Access-Control-Allow-Methods": "POST",
		"Access-Control-Allow-Headers": "mcp-method",
		"Vary":                         "Origin",
	} {
		if got := strings.Join(a.Header.Values(name), ", "); !strings.Contains(got, want) {
			t.Errorf("%s is %q, without %q", name, got, want)
		}
	}
	if a := ask("https://evil.example"); a.Status != 403 || a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a foreign page: status %d, %v", a.Status, a.Header)
	}
	exposed := l.do(t, rawRequest{Body: openRequest, Header: http.Header{"Origin": {"https://app.example"}}}).Header
	if !strings.Contains(exposed.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
		t.Errorf("the page cannot read its session: %v", exposed)
	}
}

// The names of DNS rebinding, where the proxy listens for other machines too.
func TestListedNamesAreTheOnlyOnesBeyondThisMachine(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "modern")
	p.Flags = []string{"--listen", "0.0.0.0:0", "--allow-unauthenticated"}
	for config, status := range map[string]int{"": 200, "hosts: [proxy.example]\n": 403} {
		q := *p
		q.Config, q.StateDir = config, t.TempDir()
		l := q.listen(t)
		l.url = "http://127.0.0.1" + l.url[strings.LastIndex(l.url, ":"):]
		if a := l.do(t, rawRequest{Body: releaseCall, Header: http.Header{"Host": {"evil.example"}}}); a.Status != status {
			t.Errorf("with %q: status %d, want %d: %s", config, a.Status, status, a.Body)
		}
		if a := l.do(t, rawRequest{Body: releaseCall, Header: http.Header{"Origin": {"http://localhost:3000"}}}); a.Status != 403 {
			t.Errorf("with %q: an origin that nobody listed: status %d", config, a.Status)
		}
	}
}
