//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentsEnvironmentAndDirectoryArriveVerbatim(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := childSelf{
		Args: []string{"", "a b", `"double"`, "'single'", "$HOME", "`id`", "*", `back\slash`, "line\nbreak", "-flag=", "ü"},
		Env:  []string{childMode + "=report", "SPACES= a  b ", "EMPTY=", "DOLLAR=$HOME"},
		Dir:  dir,
	}
	cmd := Command{Args: append([]string{os.Args[0]}, want.Args...), Env: want.Env, Dir: dir}
	var got childSelf
	if err := json.NewDecoder(start(t, cmd, processOptions{}).stdout).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("the child saw (-want +got):\n" + diff)
	}
}

func TestEnvironmentAndDirectoryAreOursByDefault(t *testing.T) {
	t.Setenv(childMode, "report")
	dir, _ := os.Getwd()
	var got childSelf
	p := start(t, Command{Args: []string{os.Args[0]}}, processOptions{})
	if err := json.NewDecoder(p.stdout).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(childSelf{Args: []string{}, Env: os.Environ(), Dir: dir}, got); diff != "" {
		t.Error("the child saw (-want +got):\n" + diff)
	}
}

func TestExitReportSaysHowTheChildEnded(t *testing.T) {
	tests := map[string]struct {
		cmd  Command
		want exitReport
	}{
		"success":     {shell("exit 0"), exitReport{Status: "exit status 0", Code: 0}},
		"exit status": {childCommand("complain"), exitReport{Status: "exit status 3", Code: 3, Stderr: []string{"starting", "\x1b[31mno licence\x1b[0m", "bye"}}},
		"signal":      {shell("kill -KILL $$"), exitReport{Status: "signal: killed", Code: -1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := start(t, test.cmd, processOptions{})
			within(t, "the child exits by itself", p.exited)
			if diff := cmp.Diff(test.want, p.exit()); diff != "" {
				t.Error("report (-want +got):\n" + diff)
			}
		})
	}
}

func TestStopGoesOnlyAsFarAsItMust(t *testing.T) {
	tests := map[string]struct {
		mode string
		opts processOptions
		want string
	}{
		"ends with its stdin":          {"echo", processOptions{CloseGrace: ample, TermGrace: ample}, "exit status 0"},
		"ignores the end of its stdin": {"deaf", processOptions{CloseGrace: quick, TermGrace: ample}, "exit status 7"},
		"ignores SIGTERM":              {"stubborn", processOptions{CloseGrace: quick, TermGrace: quick}, "signal: killed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := start(t, childCommand(test.mode), test.opts)
			if test.mode != "echo" {
				readLine(t, stdoutOf(p))
			}
			doing(t, "stop", func() { p.stop(t.Context()) })
			if got := p.exit().Status; got != test.want {
				t.Errorf("the child ended with %q, want %q", got, test.want)
			}
		})
	}
}

func TestEndOfTheContextEndsTheGraces(t *testing.T) {
	p := start(t, childCommand("stubborn"), processOptions{CloseGrace: ample, TermGrace: ample})
	readLine(t, stdoutOf(p))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	doing(t, "stop", func() { p.stop(ctx) })
	if got := p.exit().Status; got != "signal: killed" {
		t.Errorf("the child ended with %q", got)
	}
}

func TestStopIsSharedAndTheMostImpatientCallerCounts(t *testing.T) {
	p := start(t, childCommand("stubborn"), processOptions{CloseGrace: ample, TermGrace: ample})
	readLine(t, stdoutOf(p))
	patient, begun := make(chan struct{}), make(chan struct{})
	go func() { defer close(patient); close(begun); p.stop(context.Background()) }()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	doing(t, "the impatient stop", func() { p.stop(ctx) })
	within(t, "the patient stop", patient)
	doing(t, "one more stop", func() { p.stop(ctx) })
}

func TestStopInterruptsAWriteThatTheChildDoesNotRead(t *testing.T) {
	p := start(t, childCommand("deaf"), processOptions{CloseGrace: quick})
	wrote := make(chan error, 1)
	go func() { _, err := p.stdin.Write(make([]byte, 1<<20)); wrote <- err }()
	doing(t, "stop", func() { p.stop(t.Context()) })
	if err := <-wrote; err == nil {
		t.Error("a megabyte was written to a child that reads nothing")
	}
}

func TestStdoutEndsThoughAGrandchildHoldsIt(t *testing.T) {
	p := start(t, shell("sleep 300 & echo last words; exit 3"), processOptions{})
	var got []byte
	doing(t, "the end of stdout", func() { got, _ = io.ReadAll(p.stdout) })
	if string(got) != "last words\n" {
		t.Errorf("read %q", got)
	}
	within(t, "exited, though the grandchild holds stderr too", p.exited)
	if got := p.exit().Status; got != "exit status 3" {
		t.Errorf("status %q", got)
	}
}

func TestALateReaderGetsAllThatTheDeadChildWrote(t *testing.T) {
	p := start(t, shell("sleep 300 & head -c 60000 /dev/zero"), processOptions{})
	within(t, "exited", p.exited)
	var got []byte
	doing(t, "the end of stdout", func() { got, _ = io.ReadAll(p.stdout) })
	if len(got) != 60000 {
		t.Errorf("read %d bytes of 60000", len(got))
	}
}

func TestStdoutEndsThoughAGrandchildWritesForEver(t *testing.T) {
	p := start(t, shell("yes & yes >&2 & exit 0"), processOptions{})
	doing(t, "the end of stdout", func() { _, _ = io.Copy(io.Discard, p.stdout) })
	within(t, "exited", p.exited)
}

// Both ways: with the server alive its group is signalled as one, without it one by one; each companion once.
func TestTheWholeProcessGroupIsAskedToEnd(t *testing.T) {
	const companion = `(trap 'echo TERM >>"$0"; exit' TERM; echo ready; while :; do sleep 0.05; done) & `
	tests := map[string]struct {
		grace  time.Duration
		status string
		ready  int // lines
	}{"echo": {ample, "exit status 0", 1}, "deaf": {quick, "exit status 7", 2}}
	for mode, test := range tests {
		t.Run(mode, func(t *testing.T) {
			asked := filepath.Join(t.TempDir(), "asked")
			cmd := shell(companion + childMode + "=" + mode + ` exec "$SERVER"`)
			cmd.Args = append(cmd.Args, asked)
			p := start(t, cmd, processOptions{CloseGrace: test.grace, TermGrace: ample})
			out := stdoutOf(p)
			for range test.ready {
				readLine(t, out)
			}
			doing(t, "stop", func() { p.stop(t.Context()) })
			if got, err := os.ReadFile(asked); string(got) != "TERM\n" {
				t.Errorf("the server's companion was asked %q, %v", got, err)
			}
			if got := p.exit().Status; got != test.status {
				t.Errorf("status %q, want %q", got, test.status)
			}
		})
	}
}

func TestTheChildIsNoMemberOfOurProcessGroup(t *testing.T) {
	p := start(t, childCommand("deaf"), processOptions{CloseGrace: quick})
	readLine(t, stdoutOf(p))
	if pgid, err := syscall.Getpgid(p.family.pids()[0]); err != nil || pgid == syscall.Getpgrp() {
		t.Errorf("a signal for our group would hit the child: group %d, %v", pgid, err)
	}
}
