//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// house is a state directory whose windows share a runner.
type house struct {
	*proxied
	t    *testing.T
	seen *records
	mark string // of all processes
}

// newHouse has every call become a task if its caller lets it.
func newHouse(t *testing.T, serverFlags ...string) *house {
	t.Helper()
	p, seen := proxyAround(t, "legacy", append([]string{"-version", "2025-11-25"}, serverFlags...)...)
	p.Config = alwaysTasks
	return houseOf(t, p, seen)
}

func houseOf(t *testing.T, p *proxied, seen *records) *house {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the process table is read in /proc")
	}
	p.detached(t)
	return &house{p, t, seen, filepath.Dir(p.StateDir)}
}

// leaves has every server be started by a shell that starts something else, too.
func (s *house) leaves(what string) {
	s.Upstream = append([]string{"sh", "-c", what + ` & exec "$0" "$@"`}, s.Upstream...)
}

// beside is another house on the same state directory, with another server.
func (s *house) beside(server string, flags ...string) *house {
	s.t.Helper()
	p, seen := proxyAround(s.t, server, flags...)
	p.Config, p.StateDir, p.Host = s.Config, s.StateDir, s.Host
	return &house{p, s.t, seen, s.mark}
}

// window is a new host, whose server runs.
func (s *house) window() *host {
	s.t.Helper()
	h := s.start(s.t)
	h.open()
	return h
}

func (h *host) open() {
	h.t.Helper()
	if m := h.ask(plain.toolCall(h.freshID(), "release", `{}`)); m.Error != nil {
		h.t.Fatalf("the server does not run: %s", m.Raw)
	}
}

// self is what a window's server says of itself.
type self struct {
	Args []string
	Dir  string
	Env  map[string]string
	PID  int
}

func (h *host) server(variables ...string) (s self) {
	h.t.Helper()
	names, _ := json.Marshal(variables) // strings have an encoding
	m := h.ask(plain.toolCall(h.freshID(), "whoami", `{"env":`+string(names)+`}`))
	if err := json.Unmarshal(at(m.Result, "structuredContent"), &s); err != nil || s.PID == 0 {
		h.t.Fatalf("%v: %s", err, m.Raw)
	}
	return s
}

func (s *house) await(what string, condition func() bool) {
	s.t.Helper()
	(&host{t: s.t}).await(what, condition)
}

func (s *house) awaitEffect(effect string) {
	s.t.Helper()
	s.await(effect, func() bool { return s.seen.count(effect) > 0 })
}

// runners are those of the process table.
func (s *house) runners() (all []process) {
	for _, p := range marked(s.mark) {
		if p.isRunner() {
			all = append(all, p)
		}
	}
	return all
}

// theRunner insists that there is one.
func (s *house) theRunner() process {
	s.t.Helper()
	all := s.runners()
	if len(all) != 1 {
		s.t.Fatalf("%d runners: %v", len(all), all)
	}
	return all[0]
}

// holds is a call of the gate that is a task until the file is there.
func (h *host) holds(file string) string {
	h.t.Helper()
	return taskOf(h.t, h.ask(declared.toolCall(h.freshID(), "gate", fmt.Sprintf(`{"gate":%q,"file":%q}`, file, file))))
}

// gateFile is where a file would let go a task.
func (s *house) gateFile() string { return filepath.Join(s.t.TempDir(), "go") }

func (s *house) letGo(file string) {
	s.t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// awaitParted waits until the runner knows that this many windows have gone and
// left tasks behind.
func (s *house) awaitParted(n int) {
	s.t.Helper()
	s.await("the runner to see the window go", func() bool { return strings.Count(s.ps(s.t), "window gone") == n })
}

func (h *host) cancelTask(id string) message {
	h.t.Helper()
	return h.ask(declared.request(h.freshID(), "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id)))
}

// log is everything that the runner has logged, also in files of earlier parts.
func (s *house) log() string {
	s.t.Helper()
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(s.StateDir, "runner*.log*")) // the pattern is a good one
	for _, file := range files {
		all.WriteString(s.seen.read(file))
	}
	return all.String()
}
