package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// markName is a variable of every process that a test with a runner has started,
// however far down. Its value is the directory of the test.
const markName = "E2E_RUNNER_TEST"

// detached has all that p starts share a runner, on a state directory whose path
// is short enough for a socket. At the end of the test the runner is stopped, then
// no process is left, and the directory goes.
func (p *proxied) detached(t testing.TB) {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp-")
	if err != nil {
		t.Fatal(err)
	}
	p.StateDir = filepath.Join(dir, "state")
	p.Host.Env = append(p.Host.Env, "MCP_TASKPROXY_DETACH=auto", markName+"="+dir)
	t.Cleanup(func() {
		p.stopRunner(t)
		awaitNobody(t, dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
}

// command runs one of the commands that look at runners, on the state directory,
// and returns what it says.
func (p *proxied) command(t testing.TB, name string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(proxyBinary(t), name, "--state-dir", p.StateDir)
	cmd.Env = append(os.Environ(), raceOptions()...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// stopRunner insists on success: also where nothing runs any more.
func (p *proxied) stopRunner(t testing.TB) {
	t.Helper()
	if _, stderr, err := p.command(t, "stop"); err != nil {
		t.Errorf("stop: %v: %s", err, stderr)
	}
}

func (p *proxied) ps(t testing.TB) string {
	t.Helper()
	out, stderr, err := p.command(t, "ps")
	if err != nil {
		t.Errorf("ps: %v: %s", err, stderr)
	}
	return out
}

var runnerLine = regexp.MustCompile(`(?m)^runner (\d+), `)

// runnerPID is 0 if there is no runner.
func (p *proxied) runnerPID(t testing.TB) int {
	t.Helper()
	found := runnerLine.FindStringSubmatch(p.ps(t))
	if found == nil {
		return 0
	}
	pid, _ := strconv.Atoi(found[1]) // the pattern has digits
	return pid
}

// killRunner ends the runner with SIGKILL.
func (p *proxied) killRunner(t testing.TB) {
	t.Helper()
	pid := p.runnerPID(t)
	if pid == 0 {
		t.Fatal("no runner is there to be killed")
	}
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatalf("killing the runner: %v", err)
	}
}
