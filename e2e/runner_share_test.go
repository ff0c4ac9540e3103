//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTenWindowsAtOnceHaveOneRunnerAndServersOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	var all []*host
	for range 10 {
		all = append(all, s.start(t))
	}
	servers := map[int]bool{}
	for _, h := range all {
		servers[h.server().PID] = true
	}
	if len(servers) != len(all) {
		t.Errorf("%d windows have %d servers", len(all), len(servers))
	}
	runner, listing := s.theRunner(), s.ps(t)
	if n := strings.Count(listing, "  window "); n != len(all) || !strings.HasPrefix(listing, fmt.Sprintf("runner %d,", runner.pid)) {
		t.Errorf("ps shows %d windows:\n%s", n, listing)
	}
	if n := strings.Count(s.log(), "the task store is open"); n != 1 {
		t.Errorf("the store was opened %d times:\n%s", n, s.log())
	}
}

// The same ids, the same tools, at the same time; then one of them is killed, and
// the server of another crashes.
func TestWindowsDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	all := []*host{s.window(), s.window(), s.window()}
	for i, h := range all {
		h.send(plain.toolCall("1", "gate", fmt.Sprintf(`{"gate":"g","say":[{"progress":%d}]}`, i)))
	}
	s.await("the calls", func() bool { return s.seen.count("call gate") == len(all) })
	all[0].kill()
	checkCrash(t, all[1].ask(plain.toolCall("2", "crash", `{}`)).Error)
	checkCrash(t, all[1].response("1").Error)
	survivor := all[2]
	if m := survivor.ask(plain.toolCall("2", "echo", `{"n":2}`)); string(at(m.Result, "structuredContent")) != `{"n":2}` {
		t.Errorf("the other window got %s", m.Raw)
	}
	if left := survivor.left(); len(left) != 0 {
		t.Errorf("the other window got %v", left)
	}
	survivor.ask(plain.toolCall("3", "release", `{"gate":"g"}`))
	if m := survivor.response("1"); m.Error != nil {
		t.Errorf("the other window's call was answered %s", m.Raw)
	}
}

// The runner is started by one window, and what it was given is that window's;
// the server of the next one must see nothing of it.
func TestServerIsGivenWhatItsWindowWas(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	s.window()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Symlink(fixture(t, "legacy"), filepath.Join(dir, "odd-server"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ command, path string }{
		"found on the window's PATH":         {"odd-server", dir + ":" + os.Getenv("PATH")},
		"relative to the window's directory": {"./odd-server", os.Getenv("PATH")},
	} {
		t.Run(name, func(t *testing.T) {
			words := []string{"a b", `"q"`, "", "--after", "--"}
			p := &proxied{Upstream: append([]string{test.command, "plain"}, words...), StateDir: s.StateDir, Host: s.Host}
			p.Host.Dir, p.Host.Env = dir, append([]string{"E2E_ODD= a=b $c ", "PATH=" + test.path}, p.Host.Env...)
			got := p.start(t).server("E2E_ODD", "PATH")
			want := self{Args: append([]string{"plain"}, words...), Dir: dir, Env: map[string]string{"E2E_ODD": " a=b $c ", "PATH": test.path}, PID: got.PID}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the server was given (-want +got):\n%s", diff)
			}
		})
	}
	if got := s.window().server("E2E_ODD"); len(got.Env) != 0 {
		t.Errorf("a window without the variable has %v", got.Env)
	}
}

// A terminal, a process group or a parent that goes must not take the runner with
// it.
func TestRunnerIsApartFromItsWindows(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	runner := s.theRunner()
	if runner.session != runner.pid || runner.group != runner.pid {
		t.Errorf("session %d, group %d of runner %d", runner.session, runner.group, runner.pid)
	}
	for p := runner; p.pid > 1; p = processAt(fmt.Sprintf("/proc/%d", p.parent)) {
		if p.pid == h.cmd.Process.Pid || p.pid == os.Getpid() {
			t.Errorf("the runner descends from process %d", p.pid)
		}
	}
	if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", runner.pid)); dir != "/" {
		t.Errorf("the runner keeps the folder %s busy (%v)", dir, err)
	}
}

// Hosts leave descriptors open that their children inherit. Whoever waits for the
// end of such a pipe must not wait for the runner. Input and output it is given, for
// as long as the window is there: see TestRunnerHasTheStreamsOfItsWindow.
func TestRunnerInheritsNothing(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	open := filepath.Join(t.TempDir(), "open")
	h := startHostWith(t, s.Host, append([]string{"sh", "-c", `exec "$@" 9>"$0"`, open}, s.argv(t)...)...)
	h.open()
	front := filesOf(h.cmd.Process.Pid)
	if !front[open] {
		t.Fatalf("the front does not have %s: %v", open, front)
	}
	given := map[string]bool{}
	for fd := range 2 {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", h.cmd.Process.Pid, fd))
		mustDo(t, err)
		given[name] = true
	}
	for _, p := range marked(s.mark) {
		for file := range filesOf(p.pid) {
			if p.pid != h.cmd.Process.Pid && front[file] && !(p.isRunner() && given[file]) {
				t.Errorf("%v has %s from its window", p, file)
			}
		}
	}
}

// filesOf are the names of what a process has open: a pipe's is its own. What
// every program opens by itself does not count.
func filesOf(pid int) map[string]bool {
	all := map[string]bool{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is a good one
	for _, link := range links {
		if file, err := os.Readlink(link); err == nil && !commonFile.MatchString(file) {
			all[file] = true
		}
	}
	return all
}

var commonFile = regexp.MustCompile("^(anon_inode:|/dev/null$|/sys/fs/cgroup/)")

// A window that is closed while it starts the runner leaves nobody else without
// one.
func TestWindowThatDiesWhileItStartsTheRunner(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{false, true} {
		t.Run(fmt.Sprint(begun), func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			first := s.start(t)
			lock := filepath.Join(s.StateDir, "runner.lock")
			s.await("the window to be about to start a runner", func() bool { _, err := os.Stat(lock); return err == nil })
			if begun {
				s.await("the runner to begin", func() bool { return len(s.runners()) > 0 })
			}
			first.signal(syscall.SIGKILL)
			all := []*host{s.start(t), s.start(t), s.start(t)}
			for _, h := range all {
				h.open()
			}
			s.theRunner()
		})
	}
}
