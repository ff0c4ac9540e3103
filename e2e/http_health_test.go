package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// While the proxy waits for what still runs, it takes nothing new and says so.
func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = "tools: {gate: {task: always}}\n"
	l := p.listen(t)
	probe := func(path string, status int) {
		t.Helper()
		if a := l.do(t, rawRequest{Method: "GET", Path: path}); a.Status != status {
			t.Errorf("%s: status %d, want %d: %s", path, a.Status, status, a.Body)
		}
	}
	probe("/healthz", 200)
	probe("/readyz", 200)
	if n := len(seen.received()); n > 1 {
		t.Errorf("the server heard of it: %q", seen.received())
	}
	door := filepath.Join(t.TempDir(), "door")
	gate := fmt.Sprintf(`{"gate":"a","file":%q}`, door)
	taskOf(t, l.do(t, rawRequest{Body: declared.toolCall("1", "gate", gate)}).message)
	call := l.stream(t, rawRequest{Body: plain.toolCall("2", "slow", `{"seconds":0.5}`), Header: watched})
	l.await("the calls to reach the server", func() bool { return seen.count("call slow")+seen.count("call gate") == 2 })
	l.signal(syscall.SIGTERM)
	l.await("the proxy not to be ready any more", func() bool {
		return l.do(t, rawRequest{Method: "GET", Path: "/readyz"}).Status == http.StatusServiceUnavailable
	})
	probe("/healthz", 200)
	a := l.do(t, rawRequest{Body: releaseCall})
	if why, outcome := reason(a.Error); a.Status != 503 || why != "shutdown" || outcome != "not_dispatched" || a.Header.Get("Retry-After") == "" {
		t.Errorf("a call while it shuts down: status %d, %v, %s", a.Status, a.Header, a.Body)
	}
	if m := call.answer("2"); m.Error != nil {
		t.Errorf("the call that was waited for: %s", m.Raw)
	}
	if err := os.WriteFile(door, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if status := l.wait(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}
