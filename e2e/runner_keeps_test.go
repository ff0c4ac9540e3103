//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What a window hands over may be secret: it is in no file and no argument, and
// what lies in the directory is the user's alone.
func TestRunnerKeepsWhatItIsGivenToItself(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	const secret = "s3cr3t"
	s.Host.Env = append(s.Host.Env, "E2E_TOKEN="+secret)
	s.Config += "log_level: debug\n"
	s.Upstream = append(s.Upstream, secret+"-argument")
	h := s.window()
	h.ask(declared.toolCall("1", "crash", fmt.Sprintf(`{"x":%q}`, secret)))
	if listing := s.ps(t); strings.Contains(listing, secret) {
		t.Errorf("ps shows it:\n%s", listing)
	}
	if args := fmt.Sprint(s.theRunner().args); strings.Contains(args, secret) {
		t.Errorf("the runner's arguments show it: %s", args)
	}
	for _, name := range []string{"runner.log", "runner.lock", "runner.sock"} {
		info, err := os.Stat(filepath.Join(s.StateDir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if strings.Contains(s.log(), secret) {
		t.Errorf("the log shows it:\n%s", s.log())
	}
}

// The server is reached over HTTP, by the runner, with what the window says.
func TestWindowWithAServerOverHTTP(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	s.URL = startModernFront(t, s.Upstream)
	h, file := s.window(), s.gateFile()
	id := h.holds(file)
	s.awaitEffect("call gate")
	if listing := s.ps(t); !strings.Contains(listing, "a server over HTTP") || strings.Contains(listing, s.URL) {
		t.Errorf("ps:\n%s", listing)
	}
	h.kill()
	s.awaitParted(1)
	s.letGo(file)
	finishTask(s.start(t), id, "completed")
	if n := s.seen.count("call gate"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// While the runner lives, servers come and go, with a window and without one, and
// all of them are collected.
func TestRunnerKeepsNoZombies(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h, keeps := s.window(), s.gateFile()
	for range 3 {
		checkCrash(t, h.ask(plain.toolCall(h.freshID(), "crash", `{}`)).Error)
	}
	for range 3 {
		s.window().kill()
	}
	orphan := s.window()
	server := orphan.server().PID
	orphan.holds(keeps)
	s.awaitEffect("call gate")
	orphan.kill()
	s.awaitParted(1)
	mustDo(t, syscall.Kill(server, syscall.SIGKILL))
	h.open()
	runner := strconv.Itoa(s.theRunner().pid)
	s.await("the runner to have one child", func() bool { return len(childrenOf(runner)) == 1 })
}

// childrenOf are the process ids of children, dead or alive.
func childrenOf(parent string) (all []string) {
	found, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, path := range found {
		stat, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == parent {
			all = append(all, filepath.Base(filepath.Dir(path)))
		}
	}
	return all
}
