package conformance

import (
	"testing"
	"time"
)

func TestServerLosesNoCheck(t *testing.T) {
	tests := []struct {
		revision string
		server   []string
		fewest   int // checks that the server passes directly; fewer mean that the suite did not reach it
	}{
		{"2026-07-28", []string{"-stateless=true"}, 150},
		{"2025-11-25", []string{"-stateless=false"}, 80},
	}
	for _, test := range tests {
		t.Run(test.revision, func(t *testing.T) {
			t.Parallel()
			upstream := serve(t, false, append([]string{program("everything-server"), "-http", "ADDR"}, test.server...)...)
			proxy := proxyBefore(t, "testdata/never.yaml", "--url", upstream.URL())
			direct := runServerSuite(t, upstream, test.revision)
			if passed := passes(direct); passed < test.fewest {
				t.Fatalf("%d checks pass directly, expected %d or more", passed, test.fewest)
			}
			settle(t, "server/"+test.revision, lost(direct, runServerSuite(t, proxy, test.revision)))
		})
	}
}

// proxyBefore serves with the proxy before --url URL, or before -- COMMAND.
func proxyBefore(t *testing.T, config string, upstream ...string) *server {
	t.Helper()
	return serve(t, true, append([]string{proxyBinary(), "--config", config, "--state-dir", t.TempDir(), "--log-level", "warn", "--listen", "ADDR"}, upstream...)...)
}

func runServerSuite(t *testing.T, s *server, revision string) []check {
	t.Helper()
	return runSuite(t, 2*time.Minute, "server", "--url", s.URL(), "--suite", "all", "--spec-version", revision)
}

func passes(checks []check) int {
	n := 0
	for _, c := range checks {
		if c.Status == "SUCCESS" {
			n++
		}
	}
	return n
}
