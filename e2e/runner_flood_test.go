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
	"time"
)

// A server that says more on standard error than anybody wants, with no window
// left that it could say it to, fills no disk and still gets its task done.
func TestRunnersLogStaysBounded(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	flood, done, file := s.gateFile(), s.gateFile(), s.gateFile()
	const noisy = `(while [ ! -e "$FLOOD" ]; do sleep 0.05; done; yes "noise, noise, noise, noise" | head -c 50000000 >&2; : >"$DONE") & exec "$0" "$@"`
	s.Host.Env = append(s.Host.Env, "FLOOD="+flood, "DONE="+done)
	s.Upstream = append([]string{"sh", "-c", noisy}, s.Upstream...)
	h := s.window()
	id := h.holds(file)
	h.kill()
	s.awaitParted(1)
	s.letGo(flood)
	s.await("the flood to end", func() bool { _, err := os.Stat(done); return err == nil })
	s.letGo(file)
	finishTask(s.start(t), id, "completed")
	if !strings.Contains(s.log(), "noise, noise") {
		t.Error("nothing of it is in the log")
	}
	if n := len(s.log()); n > 4<<20 {
		t.Errorf("the log has %d bytes", n)
	}
}

// deaf is a window whose host never reads what it is told.
func (s *house) deaf(lines ...string) *exec.Cmd {
	s.t.Helper()
	argv := s.argv(s.t)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append(os.Environ(), raceOptions()...), s.Host.Env...)
	r, w, err := os.Pipe()
	mustDo(s.t, err)
	cmd.Stdout = w
	stdin, err := cmd.StdinPipe()
	mustDo(s.t, err)
	mustDo(s.t, cmd.Start())
	_ = w.Close()
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = r.Close() })
	_, err = fmt.Fprintln(stdin, strings.Join(lines, "\n"))
	mustDo(s.t, err)
	return cmd
}

// A host that reads nothing any more and ends its window gets that end in time,
// and so do the server and the runner.
func TestWindowOfAHostThatNeverReadsStillEnds(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	var calls []string
	for i := range 40 {
		calls = append(calls, plain.toolCall(fmt.Sprint(i), "flood", `{"bytes":100000}`))
	}
	cmd := s.deaf(calls...)
	s.await("the calls", func() bool { return s.seen.count("call flood") == len(calls) })
	told := time.Now()
	mustDo(t, cmd.Process.Signal(syscall.SIGTERM))
	s.await("the window to end", func() bool { return !alive(cmd.Process.Pid) })
	if took := time.Since(told); took > leaveTime {
		t.Errorf("it took %v to end", took)
	}
	awaitNobody(t, s.mark)
}

// Without --state-dir, ps and stop look in all directories that windows use by
// default.
func TestRunnersOfTheDefaultDirectoriesAreFound(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	s.Host.Env = append(s.Host.Env, "XDG_STATE_HOME="+s.mark)
	for _, server := range []string{"legacy", "modern"} {
		argv := []string{proxyBinary(t), "--", fixture(t, server)}
		startHostWith(t, s.Host, argv...).open()
	}
	run := func(name string) string {
		cmd := exec.Command(proxyBinary(t), name)
		cmd.Env = append(os.Environ(), s.Host.Env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		return string(out)
	}
	listing := run("ps")
	for _, server := range []string{"legacy", "modern"} {
		if !strings.Contains(listing, filepath.Join(s.mark, "mcp-taskproxy", server)) {
			t.Errorf("ps does not show the runner of %s:\n%s", server, listing)
		}
	}
	if n := strings.Count(run("stop"), "stopped the runner"); n != 2 {
		t.Errorf("stop ended %d runners", n)
	}
	awaitNobody(t, s.mark)
	if out := run("ps"); !strings.Contains(out, "nothing runs") {
		t.Errorf("ps: %s", out)
	}
}

func TestPsShowsWindowsServersAndTasks(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	gone, stays, file := s.window(), s.window(), s.gateFile()
	id, servers := gone.holds(file), []int{gone.server().PID, stays.server().PID}
	s.awaitEffect("call gate")
	gone.kill()
	s.awaitParted(1)
	listing := s.ps(t)
	for _, fact := range []string{
		fmt.Sprintf("runner %d, version ", s.theRunner().pid), s.StateDir,
		fmt.Sprintf("window %d ", stays.cmd.Process.Pid), fmt.Sprintf("server %d", servers[0]), fmt.Sprintf("server %d", servers[1]),
		"task " + id, `"gate"`, "working",
	} {
		if !strings.Contains(listing, fact) {
			t.Errorf("ps does not show %q:\n%s", fact, listing)
		}
	}
	if n := strings.Count(listing, "\n"); n != 4 {
		t.Errorf("%d lines:\n%s", n, listing)
	}
	s.letGo(file)
	s.await("the task to leave the list", func() bool { return !strings.Contains(s.ps(t), id) })
}
