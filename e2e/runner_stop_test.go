//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whoever says stop gets back to work when everything has ended, and not before,
// also where another one has said it first.
func TestStopsAtOnceAllWaitForTheEnd(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	id := h.holds("never")
	s.awaitEffect("call gate")
	runner := s.theRunner().pid
	first := make(chan string)
	go func() { _, stderr, _ := s.command(t, "stop"); first <- stderr }()
	s.await("the runner to begin to end", func() bool { return strings.Contains(s.ps(t), ", ending") })
	for range 2 {
		_, second, err := s.command(t, "stop")
		if err != nil || !strings.Contains(second, fmt.Sprintf("process %d", runner)) && !strings.Contains(second, "nothing runs") {
			t.Errorf("%v: %s", err, second)
		}
		if s.keeps(runner) {
			t.Error("a stop has not waited for the store")
		}
	}
	if said := <-first; !strings.Contains(said, "stopped the runner") {
		t.Errorf("the first one said %q", said)
	}
	awaitNobody(t, s.mark)
	if _, err := os.Lstat(filepath.Join(s.StateDir, "runner.sock")); err == nil {
		t.Error("the socket is still there")
	}
	finishTask(s.start(t), id, "failed")
}

// A window that comes while the runner ends waits for the next one.
func TestWindowThatComesAfterAStopIsServedByTheNextRunner(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	h.holds("never")
	s.awaitEffect("call gate")
	before := s.theRunner().pid
	go func() { _, _, _ = s.command(t, "stop") }()
	s.await("the runner to begin to end", func() bool { return strings.Contains(s.ps(t), ", ending") })
	all := []*host{s.start(t), s.start(t), s.start(t)}
	for _, w := range all {
		w.open()
	}
	if s.theRunner().pid == before {
		t.Error("the runner that was stopped goes on")
	}
	if status := h.wait(); status != 1 {
		t.Errorf("the old window ended with status %d", status)
	}
}

// A runner that hangs is neither absent nor a reason to wait for ever.
func TestRunnerThatHangsIsNamed(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	s.window()
	runner := s.theRunner().pid
	mustDo(t, syscall.Kill(runner, syscall.SIGSTOP))
	defer func() { _ = syscall.Kill(runner, syscall.SIGKILL) }() // and its window says so
	name := fmt.Sprintf("process %d", runner)
	late := s.start(t)
	for _, command := range []string{"ps", "stop"} {
		_, stderr, err := s.command(t, command)
		if err == nil || !strings.Contains(stderr, name) || !strings.Contains(stderr, "kill -9") {
			t.Errorf("%s: %v, %q", command, err, stderr)
		}
	}
	s.refused(late, name, "kill -9")
}

// A host that gives up while its window waits for a runner is no fault of
// anybody's.
func TestWindowThatIsToldToEndWhileItConnects(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	s.window()
	runner := s.theRunner().pid
	mustDo(t, syscall.Kill(runner, syscall.SIGSTOP))
	defer func() { _ = syscall.Kill(runner, syscall.SIGCONT) }()
	h := s.start(t)
	s.await("the window to connect", func() bool { return len(socketsOf(h.cmd.Process.Pid)) > 0 })
	h.signal(syscall.SIGTERM)
	if status := h.wait(); status != 0 || h.stderr() != "" {
		t.Errorf("status %d: %q", status, h.stderr())
	}
}

func socketsOf(pid int) (all []string) {
	for file := range filesOf(pid) {
		if strings.HasPrefix(file, "socket:") {
			all = append(all, file)
		}
	}
	return all
}

// A newer window wants what an older runner does not know: it must not believe that
// it is served so.
func TestWindowWithASettingThatTheRunnerDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	id := h.holds("never")
	side, serve := s.call(), s.call()
	side.say(`{"protocol":1,"version":"v9.9.9","pid":1,"want":"side"}`)
	session := side.welcome().Session
	serve.say(fmt.Sprintf(`{"protocol":1,"version":"v9.9.9","pid":1,"want":"serve","session":%q,"server":{"Policies":{"Default":{"NoSuchSetting":3}}},"command":{"Args":["eA=="]}}`, session))
	w := serve.welcome()
	for _, fact := range []string{`"NoSuchSetting"`, "v9.9.9", fmt.Sprintf("process %d", s.theRunner().pid), "mcp-taskproxy stop --state-dir " + s.StateDir} {
		if !strings.Contains(w.Error, fact) {
			t.Errorf("%q is not said: %q", fact, w.Error)
		}
	}
	serve.ended()
	h.open()
	if m := h.cancelTask(id); m.Error != nil {
		t.Errorf("the task is lost: %s", m.Raw)
	}
}

// Nobody needs to do so, and it must harm nobody.
func TestRunnerThatIsStartedByHand(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	for _, words := range [][]string{{}, {"--keeper"}, {"--forked"}} {
		cmd := exec.Command(proxyBinary(t), append([]string{"runner", "--state-dir", s.StateDir}, words...)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "mcp-taskproxy -- COMMAND") || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%v: %v: %s", words, err, out)
		}
	}
	h.open()
}

// The socket of a directory with a long name is elsewhere, and goes as others do.
func TestStateDirectoryWithALongName(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	temp := filepath.Join(s.mark, "temp")
	mustDo(t, os.Mkdir(temp, 0o700))
	s.Host.Env = append(s.Host.Env, "TMPDIR="+temp)
	s.StateDir += "-" + strings.Repeat("x", 120)
	h := s.window()
	s.Host.Env = append(s.Host.Env, "TMPDIR="+s.mark) // it is found all the same
	s.window()
	id := h.holds("never")
	s.theRunner()
	s.killRunner(t)
	awaitNobody(t, s.mark)
	finishTask(s.start(t), id, "failed")
	s.stopRunner(t)
	awaitNobody(t, s.mark)
	left, _ := filepath.Glob(filepath.Join(temp, "*")) // the pattern is a good one
	more, _ := filepath.Glob(filepath.Join(s.mark, "mcp-taskproxy-*"))
	if left = append(left, more...); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Lstat(filepath.Join(s.StateDir, "runner.sock")); err == nil {
		t.Error("the link is still there")
	}
}

// Another user may have taken the place of the socket since.
func TestPlaceOfTheSocketThatIsOpenToOthersIsRefused(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	place := filepath.Join(s.mark, "place")
	mustDo(t, os.Mkdir(place, 0o700))
	f := fakeRunner(t, filepath.Join(place, "runner.sock"), `{"protocol":1,"version":"v","pid":1}`)
	mustDo(t, os.Chmod(place, 0o755))
	s.StateDir += "-" + strings.Repeat("x", 120)
	mustDo(t, os.Mkdir(s.StateDir, 0o700))
	mustDo(t, os.Symlink(filepath.Join(place, "runner.sock"), filepath.Join(s.StateDir, "runner.sock")))
	s.refused(s.start(t), place, "--state-dir")
	if told := f.heard(); len(told) != 0 {
		t.Errorf("it was told %q", told)
	}
	mustDo(t, os.Remove(filepath.Join(s.StateDir, "runner.sock")))
}
