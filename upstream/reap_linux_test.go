package upstream

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"github.com/rs/zerolog"
)

func TestDeadOrphansAreCollectedWhileTheirUpstreamRuns(t *testing.T) {
	alone(t)
	p := start(t, childCommand("with daemon that ends itself"), processOptions{CloseGrace: ample})
	readLine(t, stdoutOf(p))
	eventually(t, "no zombie is left", func() bool {
		found := below(self)
		delete(found, p.family.root.pid)
		return len(found) == 0
	})
}

func TestCollectingOrphansTakesNoExitStatusOfOthers(t *testing.T) {
	alone(t)
	p := start(t, shell(`for i in $(seq 100); do (sh -c : &); done & exec "$SERVER"`), processOptions{})
	for range 5 {
		other := exec.Command("sh", "-c", "exit 7")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is dead and nobody has waited for it", func() bool {
			e, ok := readProcEntry(other.Process.Pid)
			return !ok || e.state == 'Z'
		})
		reapOrphans()
		err := other.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 {
			t.Fatalf("the exit status of a child got lost: %v", err)
		}
	}
	doing(t, "stop", func() { p.stop(t.Context()) })
}

func TestKillOrphansTakesTheAdoptedAndOnlyThem(t *testing.T) {
	alone(t)
	p := start(t, childCommand("with daemon"), processOptions{})
	daemon := entry(t, readLine(t, stdoutOf(p)))
	other := exec.Command("cat")
	other.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as far from us as a child can be
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	killServer(t, p)
	if err := KillOrphans(t.Context(), zerolog.New(zerolog.NewTestWriter(t))); err != nil {
		t.Fatal(err)
	}
	if daemon.exists() {
		t.Error("the daemon survived")
	}
	_ = stdin.Close()
	if err := other.Wait(); err != nil {
		t.Errorf("a child of another part of the program was hit: %v", err)
	}
	p.stop(t.Context())
}

// A killed program's first thread may be dead while another, the parent of a dead daemon, is still dying.
func TestTheDeadBelowADyingParentAreNotForgotten(t *testing.T) {
	const middle, daemon, stranger = 1<<30 + 1, 1<<30 + 2, 1<<30 + 3 // no kernel gives such pids
	tests := map[string]struct {
		parent, left int
	}{
		"a member":             {parent: middle, left: 1},
		"gone from the table":  {parent: stranger + 1, left: 1},
		"none of the family's": {parent: stranger, left: 0},
		"we":                   {parent: self, left: 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := &family{members: map[int]uint64{middle: 1, daemon: 1}}
			left := f.reapLocked(procTable{
				middle:   {pid: middle, ppid: self, state: 'Z', start: 1},
				daemon:   {pid: daemon, ppid: test.parent, state: 'Z', start: 1},
				stranger: {pid: stranger, ppid: 1, state: 'S', start: 1},
				self:     {pid: self, state: 'S'},
			})
			if left != test.left {
				t.Errorf("%d left, want %d", left, test.left)
			}
		})
	}
}

func TestAdoptionCanBeEndedTwice(t *testing.T) {
	stop := AdoptOrphans(zerolog.Nop())
	stop()
	stop()
}

func TestProcessNamesDoNotConfuseTheTable(t *testing.T) {
	const rest = " S 2 3 4 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 10 20 30"
	want := procEntry{pid: 12, ppid: 2, pgrp: 3, session: 4, state: 'S', start: 987654}
	for _, name := range []string{"sh", "a b", "x) R 1 1 1", "((", "", "new\nline"} {
		if got, ok := parseProcStat([]byte("12 (" + name + ")" + rest)); !ok || got != want {
			t.Errorf("%q: %+v, %v", name, got, ok)
		}
	}
	for _, text := range []string{"", "12", "12 (sh) S 2", "x (sh)" + rest} {
		if got, ok := parseProcStat([]byte(text)); ok {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}
