//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// However the runner is told to end, tasks have some seconds; what has not ended
// then is recorded.
func TestRunnerThatIsToldToEndRecordsItsTasks(t *testing.T) {
	for name, end := range map[string]func(*house){
		"stop":    func(s *house) { s.stopRunner(s.t) },
		"SIGTERM": func(s *house) { _ = syscall.Kill(s.theRunner().pid, syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			gone, stays, file := s.window(), s.window(), s.gateFile()
			all := []string{gone.holds(s.gateFile()), stays.holds(s.gateFile())}
			late := stays.holds(file)
			s.await("the calls", func() bool { return s.seen.count("call gate") == 3 })
			gone.kill()
			s.awaitParted(1)
			ended := make(chan bool)
			go func() { defer close(ended); end(s) }()
			s.await("the runner to begin to end", func() bool { return strings.Contains(stays.stderr(), "told to end") })
			s.letGo(file)
			<-ended
			stays.wait()
			awaitNobody(t, s.mark)
			next := s.start(t)
			finishTask(next, late, "completed")
			for _, id := range all {
				failed := finishTask(next, id, "failed")
				if why, outcome := reason(at(failed.Result, "error")); why != "shutdown" || outcome != "unknown" {
					t.Errorf("reason %q, outcome %q: %s", why, outcome, failed.Raw)
				}
			}
		})
	}
}

// Its windows say in one line what happened, the servers die however stubborn
// they are, and the next window has a new runner.
func TestRunnerThatIsKilled(t *testing.T) {
	t.Parallel()
	s := newHouse(t, "-ignore-eof", "-ignore-term")
	h, idle := s.window(), s.window()
	server, runner := h.server().PID, s.theRunner().pid
	sent := h.holds(s.gateFile())
	s.awaitEffect("call gate")
	h.send(plain.toolCall(`"open"`, "gate", `{"gate":"shut"}`))
	s.await("the second call", func() bool { return s.seen.count("call gate") == 2 })
	said := len(idle.stderr())
	s.killRunner(t)
	for _, w := range []*host{h, idle} {
		if status := w.wait(); status != 1 {
			t.Errorf("a window ended with status %d", status)
		}
	}
	checkLastWords(t, idle, said, fmt.Sprintf("process %d", runner), "runner.log")
	s.await("the server to die", func() bool { return !alive(server) })
	failed := finishTask(s.start(t), sent, "failed")
	if why, outcome := reason(at(failed.Result, "error")); why != "proxy_restarted" || outcome != "unknown" {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, failed.Raw)
	}
	if n := s.seen.count("call gate"); n != 2 {
		t.Errorf("the tool was called %d times", n)
	}
}

// checkLastWords wants one line with these facts on standard error, behind what
// was said before.
func checkLastWords(t *testing.T, h *host, said int, facts ...string) {
	t.Helper()
	h.await("a last line", func() bool { return strings.HasSuffix(h.stderr()[said:], "\n") })
	last := h.stderr()[said:]
	if strings.Count(last, "\n") != 1 || !strings.HasPrefix(last, "mcp-taskproxy: ") {
		t.Errorf("not one line of ours: %q", last)
	}
	for _, fact := range facts {
		if !strings.Contains(last, fact) {
			t.Errorf("%q is not said: %q", fact, last)
		}
	}
}

// The server is slow to start, and the runner dies before the call is sent: it is
// made once, by a window of the same server, and not by one of another.
func TestCallThatWasNeverSentIsMadeAfterTheRunnerWasKilled(t *testing.T) {
	t.Parallel()
	s := newHouse(t, "-start-delay", "2s")
	id := taskOf(t, s.start(t).ask(declared.toolCall("1", "echo", `{"n":1}`)))
	s.killRunner(t)
	other := s.beside("modern")
	if m := pollTask(other.window(), id, func(message) bool { return true }); m.text("status") != "working" {
		t.Fatalf("the task is %s", m.Raw)
	}
	s.await("the server of the killed runner to go", func() bool { return !serves(s, "legacy") })
	finishTask(s.start(t), id, "completed")
	if n := s.seen.count("call echo") + other.seen.count("call echo"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// serves says whether a server of this name is there.
func serves(s *house, name string) bool {
	for _, p := range marked(s.mark) {
		if strings.HasSuffix(p.args[0], "/"+name) {
			return true
		}
	}
	return false
}

// Nobody is left to notice, unless the next runner looks: the front and the runner
// die at the same moment.
func TestWindowAndRunnerThatAreKilledTogether(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	id := h.holds(s.gateFile())
	s.awaitEffect("call gate")
	for _, p := range []int{h.cmd.Process.Pid, s.theRunner().pid} {
		if err := syscall.Kill(p, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	awaitNobody(t, s.mark)
	finishTask(s.start(t), id, "failed")
}
