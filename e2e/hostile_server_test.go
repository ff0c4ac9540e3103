//go:build linux

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// attack is what the hostile server does in a call, and how the call ends.
type attack struct {
	tool   string
	reason string // of the error; empty for a result
	lines  int    // that the host gets beside the answers, at most
}

var attackTable = []attack{
	{"twice", "", 0},
	{"nobody", "", 0},
	{"nul", "upstream_invalid", 0},
	{"deep", "upstream_invalid", 0},
	{"batches", "", 0},
	{"bom", "", 0},
	{"slow", "", 0},
	{"half", "upstream_exited", 0},
	{"junk", "", 0},
	{"lines", "", 0},
	{"ask", "", 2000},
	{"progress", "", 100_000},
	{"notices", "", 100_000},
}

// mostKB is what the proxy may have resident at its worst: some messages of the
// size that is allowed, and their copies.
const mostKB = 100 << 10

// Whatever the server does in one call, that call ends with a result or an
// honest error, the next ones are served, and the proxy stays small and leaves
// in good order.
func TestHostileServer(t *testing.T) {
	for _, a := range attackTable {
		t.Run(a.tool, func(t *testing.T) {
			p := &proxied{Upstream: []string{fixture(t, "hostile")}, StateDir: t.TempDir()}
			p.Config = "limits: {message_bytes: 8MiB}\n"
			if raceEnabled { // every line is judged, which takes it minutes
				p.Host.Env = []string{"E2E_FLOOD=10000"}
			}
			h := p.start(t)
			h.initialize("2025-11-25")
			h.ask(toolCall("1", "run", `{}`))
			h.send(request("2", "tools/call", fmt.Sprintf(`{"name":%q,"_meta":{"progressToken":"p"}}`, a.tool)))
			checkEnd(t, h.response("2"), a.reason)
			for id := range 3 {
				checkEnd(t, h.ask(toolCall(fmt.Sprint(3+id), "run", `{}`)), "")
			}
			if n := len(h.left()); n > a.lines {
				t.Errorf("the host got %d lines more", n)
			}
			checkPeak(t, h.cmd.Process.Pid)
			if status := h.stop(); status != 0 || strings.Contains(h.stderr(), "panic") {
				t.Errorf("status %d", status)
			}
		})
	}
}

// The same calls as tasks, which nobody waits for.
func TestHostileServerUnderTasks(t *testing.T) {
	p := &proxied{Upstream: []string{fixture(t, "hostile")}, StateDir: t.TempDir()}
	p.Config = alwaysTasks + "limits: {message_bytes: 8MiB}\n"
	h := p.start(t)
	for i, a := range attackTable {
		if a.tool == "ask" { // which waits for answers
			continue
		}
		id := taskOf(t, h.ask(declared.toolCall(fmt.Sprint(i), a.tool, `{}`)))
		m := pollTask(h, id, terminal)
		if why, _ := reason(at(m.Result, "error")); m.text("status") != map[bool]string{true: "completed", false: "failed"}[a.reason == ""] || why != a.reason {
			t.Errorf("%s: %s", a.tool, cut(m.Raw))
		}
	}
	checkPeak(t, h.cmd.Process.Pid)
	h.stop()
}

func checkEnd(t *testing.T, m message, want string) {
	t.Helper()
	if why, _ := reason(m.Error); why != want || (m.Error == nil) != (want == "") {
		t.Errorf("want reason %q: %s", want, cut(m.Raw))
	}
}

// checkPeak looks at the most that the process ever had resident.
func checkPeak(t *testing.T, pid int) {
	t.Helper()
	checkPeakIs(t, pid, mostKB)
}

func checkPeakIs(t *testing.T, pid, most int) {
	t.Helper()
	if raceEnabled {
		return // which multiplies memory
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil || kb > most {
		t.Errorf("%d KB resident, %v", kb, err)
	}
}

// The proxy lists the tools itself where it has to know whether one destroys
// anything: a list that never ends must not keep the call for ever.
func TestToolsThatAreListedWithoutEnd(t *testing.T) {
	p := &proxied{Upstream: []string{fixture(t, "hostile")}, StateDir: t.TempDir()}
	p.Config = "approve: destructive\n"
	h := p.start(t)
	if m := h.ask(stateless{Answers: true}.toolCall("1", "run", `{}`)); m.Result == nil && m.Error == nil {
		t.Errorf("got %s", cut(m.Raw))
	}
	h.stop()
}
