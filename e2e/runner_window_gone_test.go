//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ends are the ways in which a window goes.
var ends = map[string]func(*host){
	"EOF":     func(h *host) { h.stop() },
	"SIGTERM": func(h *host) { h.signal(syscall.SIGTERM); h.wait() },
	"SIGKILL": func(h *host) { h.kill() },
}

// The server goes with its window, and so does what it has started, while the
// runner and another window's server stay.
func TestServerAndDescendantsGoWithTheirWindow(t *testing.T) {
	for leave, flags := range map[string][]string{"sleep 300": nil, "setsid sleep 300": nil, "true": {"-ignore-eof", "-ignore-term"}} {
		for name, end := range ends {
			t.Run(name+"/"+leave, func(t *testing.T) {
				t.Parallel()
				f := newFamily(t, leave, flags...)
				s := houseOf(t, f.proxied, f.seen)
				goes, stays := s.start(t), s.start(t)
				f.open(goes)
				first := f.pids()
				stays.open()
				end(goes)
				for _, pid := range first {
					s.await(fmt.Sprintf("process %d to be gone", pid), func() bool { return !alive(pid) })
				}
				server := stays.server().PID
				if all := f.pids()[2:]; !slices.Contains(all, server) || leave != "true" && !alive(all[1]) {
					t.Errorf("something of the other window's %v has gone, too", all)
				}
			})
		}
	}
}

// Ten seconds after the last window nothing is left; ps is not asked before, as
// that keeps a runner.
func TestNothingIsLeftAfterTheLastWindow(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			end(s.window())
			closed := time.Now()
			awaitNobody(t, s.mark)
			if took := time.Since(closed); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			out, stderr, err := s.command(t, "ps")
			if err != nil || out != "" || !strings.Contains(stderr, "nothing runs") {
				t.Errorf("ps: %v, %q, %q", err, out, stderr)
			}
		})
	}
}

// A session starts a task and is closed; a new one asks for the old id.
func TestTaskKeepsItsServerUntilItIsDone(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t, "setsid sleep 300")
			f.Config = alwaysTasks
			s := houseOf(t, f.proxied, f.seen)
			first, file := s.start(t), s.gateFile()
			f.open(first)
			id := first.holds(file)
			f.awaitCall(first, "gate")
			end(first)
			s.awaitParted(1)
			second := s.window()
			if m := pollTask(second, id, func(message) bool { return true }); m.text("status") != "working" {
				t.Errorf("the task is %s", m.Raw)
			}
			s.letGo(file)
			finishTask(second, id, "completed")
			for _, pid := range f.pids()[:2] {
				s.await(fmt.Sprintf("process %d to be gone", pid), func() bool { return !alive(pid) })
			}
			if n := f.seen.count("call gate"); n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

// Nobody looks while the task runs, nor when it ends: then the runner leaves, and
// the result is there for a window of the next one.
func TestRunnerStaysForATaskAndThenLeaves(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h, file := s.window(), s.gateFile()
	id := h.holds(file)
	s.awaitEffect("call gate")
	h.stop()
	s.awaitParted(1)
	s.letGo(file)
	awaitNobody(t, s.mark)
	finishTask(s.start(t), id, "completed")
}

// A window with another server reads, answers and cancels what is left of one
// that has gone: the user is the same.
func TestTasksAreForEveryWindow(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	first := s.window()
	asked := taskOf(t, first.ask(both.quiz("1", `{"rounds":[["form:a"],["form:b"]]}`, "")))
	doomed := first.holds(s.gateFile())
	s.awaitEffect("call gate")
	first.kill()
	s.awaitParted(1)
	other := s.beside("modern").window()
	for _, key := range []string{"a", "b"} { // the second is asked when its window has long gone
		m := pollTask(other, asked, func(m message) bool { return strings.Contains(string(at(m.Result, "inputRequests")), `"`+key+`?"`) })
		if len(m.asked()) != 1 {
			t.Fatalf("question %s is not asked: %s", key, m.Raw)
		}
		other.update(asked, fmt.Sprintf(`{%q:%s}`, m.asked()[0], yes))
	}
	finishTask(other, asked, "completed")
	if m := other.cancelTask(doomed); m.Error != nil {
		t.Errorf("cancel: %s", m.Raw)
	}
	finishTask(other, doomed, "cancelled")
	s.awaitEffect("cancelled gate")
	s.await("the server to go", func() bool { return !strings.Contains(s.ps(t), "window gone") })
}

// The task's window has gone, and then its server ends by itself.
func TestServerThatEndsAfterItsWindow(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	first := s.window()
	server, id := first.server().PID, first.holds(s.gateFile())
	s.awaitEffect("call gate")
	first.kill()
	s.awaitParted(1)
	if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	failed := finishTask(s.start(t), id, "failed")
	if why, outcome := reason(at(failed.Result, "error")); why != "upstream_exited" || outcome != "unknown" {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, failed.Raw)
	}
}

// max_run ends a task that nobody waits for, and with it the server's reason to
// stay.
func TestTaskOfAWindowThatHasGoneHasItsLimit(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	s.Config = alwaysTasks + "max_run: 2s\n"
	first := s.window()
	id := first.holds(s.gateFile())
	s.awaitEffect("call gate")
	first.kill()
	awaitNobody(t, s.mark)
	failed := finishTask(s.start(t), id, "failed")
	if why, _ := reason(at(failed.Result, "error")); why != "max_run" {
		t.Errorf("reason %q: %s", why, failed.Raw)
	}
}
