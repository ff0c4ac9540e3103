//go:build unix

package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// refused insists that the process ends with status 1 and says one line, with
// these facts in it, and nothing on stdout.
func (s *house) refused(h *host, facts ...string) {
	s.t.Helper()
	if status := h.wait(); status != 1 {
		s.t.Errorf("status %d", status)
	}
	checkLastWords(s.t, h, 0, facts...)
	if left := h.left(); len(left) != 0 {
		s.t.Errorf("on stdout: %v", left)
	}
}

// never is a process of its own on the house's state directory, which logs
// nothing that is no error.
func (s *house) never() *host {
	s.t.Helper()
	p := *s.proxied
	p.Flags = append([]string{"--detach", "never", "--log-level", "error"}, p.Flags...)
	return p.start(s.t)
}

func TestProcessOfItsOwnBesideARunnerIsRefused(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	s.refused(s.never(), fmt.Sprintf("runner (process %d", s.theRunner().pid), s.StateDir, "--detach never", "mcp-taskproxy stop")
	h.open()
}

func TestWindowOrSecondProcessBesideAProcessOfItsOwnIsRefused(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	first := s.never()
	first.open()
	holder := "process " + strconv.Itoa(first.cmd.Process.Pid)
	second, window := s.never(), s.start(t)
	s.refused(second, holder, s.StateDir)
	s.refused(window, holder, s.StateDir)
	s.await("the runner without a store to go", func() bool { return len(s.runners()) == 0 })
	first.open()
}

// Nobody else may talk to the runner, and a directory that cannot be used is named
// with what to do; no process is left behind.
func TestStateDirectoriesThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, dir string) string // returns the directory to use
		facts   []string
	}{
		"writable for a group": {withMode(0o770), []string{"chmod 700"}},
		"writable for all":     {withMode(0o702), []string{"chmod 700"}},
		"read-only":            {readOnlyDir, nil},
		"of another user":      {foreignDir, []string{"--state-dir"}},
		"a file":               {func(t *testing.T, dir string) string { writeFile(t, dir+"file"); return dir + "file" }, nil},
		"with a folder in the socket's place": {func(t *testing.T, dir string) string {
			mustDo(t, os.MkdirAll(filepath.Join(dir, "runner.sock", "x"), 0o700))
			return dir
		}, []string{"runner.sock"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			p := *s.proxied
			p.StateDir = test.prepare(t, s.StateDir)
			s.refused(p.start(t), append(test.facts, p.StateDir)...)
			awaitNobody(t, s.mark)
		})
	}
}

func withMode(mode os.FileMode) func(*testing.T, string) string {
	return func(t *testing.T, dir string) string {
		mustDo(t, os.Mkdir(dir, 0o700))
		mustDo(t, os.Chmod(dir, mode))
		return dir
	}
}

// readOnlyDir is one where even root can write nothing.
func readOnlyDir(t *testing.T, dir string) string {
	if os.Getuid() == 0 {
		return "/proc/state"
	}
	return withMode(0o500)(t, dir)
}

func foreignDir(t *testing.T, dir string) string {
	if os.Getuid() != 0 {
		return "/root"
	}
	mustDo(t, os.Mkdir(dir, 0o700))
	mustDo(t, os.Chown(dir, 54321, -1))
	t.Cleanup(func() { mustDo(t, os.Chown(dir, 0, -1)) })
	return dir
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, path string) {
	t.Helper()
	mustDo(t, os.WriteFile(path, nil, 0o600))
}

// What lies in the socket's place and is nobody's does not keep a runner away.
func TestWhatADeadRunnerLeavesIsCleanedUp(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, string){
		"a file": writeFile,
		"a socket that nobody listens on": func(t *testing.T, path string) {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			mustDo(t, err)
			l.SetUnlinkOnClose(false)
			mustDo(t, l.Close())
		},
		"a link to nowhere": func(t *testing.T, path string) { mustDo(t, os.Symlink("/nowhere", path)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			mustDo(t, os.Mkdir(s.StateDir, 0o700))
			leave(t, filepath.Join(s.StateDir, "runner.sock"))
			s.window()
			info, err := os.Lstat(filepath.Join(s.StateDir, "runner.sock"))
			if err != nil || info.Mode() != os.ModeSocket|0o600 {
				t.Errorf("the socket is %v, %v", info, err)
			}
		})
	}
}
