package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// proxied is one way of running the proxy; start may be called again and again
// to see what a later process makes of the same state directory.
type proxied struct {
	Flags    []string
	Config   string   // YAML; empty means no file
	Upstream []string // command behind "--"
	URL      string   // of the server, in place of a command
	StateDir string
	Host     hostOptions
}

// proxyAround prepares the proxy around a fixture whose calls can be counted.
func proxyAround(t testing.TB, server string, args ...string) (*proxied, *records) {
	t.Helper()
	dir := t.TempDir()
	seen := &records{t: t, effects: filepath.Join(dir, "effects"), log: filepath.Join(dir, "log")}
	upstream := append([]string{fixture(t, server), "-effects", seen.effects, "-log", seen.log}, args...)
	return &proxied{Upstream: upstream, StateDir: filepath.Join(dir, "state")}, seen
}

func (p *proxied) argv(t testing.TB) []string {
	t.Helper()
	argv := []string{proxyBinary(t), "--state-dir", p.StateDir}
	if p.Config != "" {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(p.Config), 0o600); err != nil {
			t.Fatal(err)
		}
		argv = append(argv, "--config", file)
	}
	argv = append(argv, p.Flags...)
	if p.URL != "" {
		return append(argv, "--url", p.URL)
	}
	if len(p.Upstream) == 0 {
		return argv // the file names the server
	}
	return append(append(argv, "--"), p.Upstream...)
}

func (p *proxied) start(t testing.TB) *host {
	t.Helper()
	return startHostWith(t, p.Host, p.argv(t)...)
}

// records reads what a fixture wrote down.
type records struct {
	t            testing.TB
	effects, log string
}

// count is how often the fixture noted exactly this: "call TOOL" or "cancelled TOOL".
func (r *records) count(effect string) int {
	n := 0
	for line := range strings.Lines(r.read(r.effects)) {
		if line == effect+"\n" {
			n++
		}
	}
	return n
}

// received is every line that reached the fixture.
func (r *records) received() []string {
	return strings.Split(strings.TrimSuffix(r.read(r.log), "\n"), "\n")
}

func (r *records) read(path string) string {
	r.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(data)
}

// pollTask asks for the task until done says so, or it reached a terminal state.
func pollTask(h *host, taskID string, done func(message) bool) message {
	h.t.Helper()
	late, again := time.NewTimer(patience), time.NewTicker(10*time.Millisecond)
	defer late.Stop()
	defer again.Stop()
	for {
		m := h.ask(stateless{Tasks: true}.request(h.freshID(), "tasks/get", fmt.Sprintf(`{"taskId":%q}`, taskID)))
		if m.Error != nil || done(m) || terminal(m) {
			return m
		}
		select {
		case <-again.C:
		case <-late.C:
			h.t.Fatalf("task still %s after %v", m.text("status"), patience)
		}
	}
}

func terminal(m message) bool {
	status := m.text("status")
	return status == "completed" || status == "failed" || status == "cancelled"
}

// finishTask polls until the task is over and insists on how it ended.
func finishTask(h *host, taskID, status string) message {
	h.t.Helper()
	m := pollTask(h, taskID, terminal)
	if m.text("status") != status {
		h.t.Fatalf("task ended %q, want %q: %s", m.text("status"), status, cut(m.Raw))
	}
	return m
}
