//go:build linux

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

// strays are what a server may leave, by how far it gets away.
var strays = map[string]string{
	"a child":       "sleep 300",
	"stubborn":      `sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done'`,
	"its session":   "setsid sleep 300",
	"a daemon":      "(setsid sh -c 'sleep 300 & sleep 300' </dev/null >/dev/null 2>&1 &)",
	"grandchildren": "sh -c '(sleep 300; :) & setsid sh -c \"sleep 300 & exec sleep 300\" & wait'",
	"ever new ones": "sh -c 'while :; do (setsid sleep 300 &); sleep 0.1; done'",
	"a chain of sh": "sh -c 'sh -c \"sh -c \\\"sleep 300; :\\\"; :\"; :'",
}

// deaths are who dies, in this order, by SIGKILL. Nothing is said to anybody.
var deaths = map[string][]func(*house, *host) int{
	"runner":                 {runnerOf},
	"window, runner":         {windowOf, runnerOf},
	"runner, window":         {runnerOf, windowOf},
	"server, runner":         {serverOf, runnerOf},
	"runner, server":         {runnerOf, serverOf},
	"server, window, runner": {serverOf, windowOf, runnerOf},
	"keeper, window":         {keeperOf, windowOf},
	"keeper, server, window": {keeperOf, serverOf, windowOf},
	"window, keeper":         {windowOf, keeperOf},
}

func windowOf(_ *house, h *host) int { return h.cmd.Process.Pid }
func runnerOf(s *house, _ *host) int { return s.pidOf(process.isRunner) }
func keeperOf(s *house, _ *host) int { return s.pidOf(process.isKeeper) }
func serverOf(s *house, _ *host) int { return s.pidOf(isServer) }

func (s *house) pidOf(meant func(process) bool) int {
	s.t.Helper()
	for _, p := range marked(s.mark) {
		if meant(p) {
			return p.pid
		}
	}
	s.t.Fatalf("a process is missing: %v", marked(s.mark))
	return 0
}

// In whatever order they die, what a server has started does not outlive its window
// and its runner; the next window works at once, and a task has ended.
func TestNothingIsLeftWhoeverIsKilled(t *testing.T) {
	for order, victims := range deaths {
		for name, stray := range strays {
			if name != "its session" && order != "runner" {
				continue // what is left is found in the same way
			}
			t.Run(order+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newHouse(t)
				s.leaves(stray)
				h := s.window()
				id := h.holds("never")
				s.awaitEffect("call gate")
				s.kill(h, victims)
				next := s.window()
				m := pollTask(next, id, func(message) bool { return true })
				if m.text("status") == "working" { // its server lives where the runner does
					next.cancelTask(id)
				}
				pollTask(next, id, terminal)
				next.stop()
				s.stopRunner(t)
				awaitNobody(t, s.mark)
			})
		}
	}
}

// kill finds them all first: each dies with those before it just dead.
func (s *house) kill(h *host, victims []func(*house, *host) int) {
	s.t.Helper()
	var pids []int
	for _, of := range victims {
		pids = append(pids, of(s, h))
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			s.t.Fatal(err)
		}
	}
}

// The keeper is small and idle, has nothing of the runner's, and is no runner for
// ps; without it the runner goes on.
func TestKeeperIsHardlyThere(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	keeper := s.pidOf(process.isKeeper)
	if runner := s.theRunner(); runner.parent != keeper {
		t.Errorf("the runner is a child of %d, not of the keeper %d", runner.parent, keeper)
	}
	if listing := s.ps(t); strings.Contains(listing, fmt.Sprint(keeper)) || strings.Count(listing, "runner ") != 1 {
		t.Errorf("ps:\n%s", listing)
	}
	for file := range filesOf(keeper) {
		if file != filepath.Join(s.StateDir, "runner.log") {
			t.Errorf("the keeper has %s open", file)
		}
	}
	if kb := ownKB(t, keeper); kb > 8<<10 && !raceEnabled {
		t.Errorf("the keeper has %d KB of its own", kb)
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		mustDo(t, syscall.Kill(keeper, signal))
	}
	h.open()
	if !alive(keeper) {
		t.Fatal("a signal that was for others has ended the keeper")
	}
	mustDo(t, syscall.Kill(keeper, syscall.SIGKILL))
	h.open()
	s.window()
}

// ownKB is what a process shares with no other.
func ownKB(t *testing.T, pid int) (kb int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	mustDo(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "Private_") {
			n, _ := strconv.Atoi(strings.Fields(line)[1])
			kb += n
		}
	}
	return kb
}

// What has happened is in the log, for whoever looks at three in the morning.
func TestKilledRunnerIsInItsLog(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	s.window()
	runner := s.theRunner().pid
	s.killRunner(t)
	awaitNobody(t, s.mark)
	if log := s.log(); !strings.Contains(log, fmt.Sprintf(`"pid":%d,"status":"signal: killed"`, runner)) {
		t.Errorf("the log:\n%s", log)
	}
}
