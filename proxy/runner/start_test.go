//go:build unix

package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// roleName is a variable that makes the test binary something else.
const roleName = "RUNNER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleName) {
	case "":
		os.Exit(m.Run())
	case "hold":
		hold(os.Args[1])
	case "hang": // a runner that never says whether it is ready
		sign(os.Args[2])
		<-time.After(time.Hour) // its starter kills it
	case "fail":
		Report(errors.New("no luck today"))
	case "die":
	}
}

// hold has the lock of a directory until standard input ends.
func hold(dir string) {
	file, err := lock(context.Background(), dir, time.Minute)
	fmt.Println(err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = file.Close()
}

func stateDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// holder is a process that has the lock.
func holder(t *testing.T, dir string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), roleName+"=hold")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = stdin.Close() })
	t.Cleanup(kill)
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "<nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return kill
}

func TestLockIsHadOnce(t *testing.T) {
	dir := stateDir(t)
	kill := holder(t, dir)
	if _, err := lock(t.Context(), dir, 50*time.Millisecond); !errors.Is(err, errLocked) {
		t.Errorf("it is had twice: %v", err)
	}
	done := false
	unlessLocked(dir, func() { done = true })
	if done {
		t.Error("something was done under a lock that another process has")
	}
	kill()
	file, err := lock(t.Context(), dir, time.Minute)
	if err != nil {
		t.Fatalf("the lock of a dead process: %v", err)
	}
	if _, err := lock(t.Context(), dir, 50*time.Millisecond); !errors.Is(err, errLocked) {
		t.Errorf("it is had twice by one process: %v", err)
	}
	_ = file.Close()
	unlessLocked(dir, func() { done = true })
	if !done {
		t.Error("nothing was done although nobody has the lock")
	}
}

func TestWaitForALockEndsWithItsContext(t *testing.T) {
	dir := stateDir(t)
	holder(t, dir)
	cause := errors.New("told to end")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := lock(ctx, dir, time.Hour); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

// absent is a use of a runner that is never there.
func absent(dial dialer) error {
	_, err := dial()
	return err
}

// starts are commands that do not make a runner, and what is said then.
var starts = map[string][]string{
	"hang": {"hangs", "kill -9", "runner.log", "this window", "process "},
	"fail": {"no luck today"},
	"die":  {"did not start", "runner.log"},
}

func TestRunnersThatDoNotStart(t *testing.T) {
	for role, facts := range starts {
		t.Run(role, func(t *testing.T) {
			dir := stateDir(t)
			s := starter{Storage: Storage{StateDir: dir}, Command: roleCommand(role), Patience: patienceFor(role)}
			err := s.reach(t.Context(), absent)
			checkLine(t, err, facts)
			file, err := lock(t.Context(), dir, time.Minute)
			if err != nil {
				t.Fatalf("the next one cannot start a runner: %v", err)
			}
			_ = file.Close()
		})
	}
}

// patienceFor leaves a process that answers all the time that it may need.
func patienceFor(role string) time.Duration {
	if role == "hang" {
		return 2 * time.Second
	}
	return time.Minute
}

// roleCommand gives the role to the command only: the variable would make the
// tests' own children something else, too.
func roleCommand(role string) []string {
	return []string{"/usr/bin/env", roleName + "=" + role, os.Args[0]}
}

func checkLine(t *testing.T, err error, facts []string) {
	t.Helper()
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Fatalf("not one line: %v", err)
	}
	for _, fact := range facts {
		if !strings.Contains(err.Error(), fact) {
			t.Errorf("%q is not said: %v", fact, err)
		}
	}
}

// Somebody else starts a runner for ever.
func TestStarterThatWaitsForAnotherHasALimit(t *testing.T) {
	dir := stateDir(t)
	holder(t, dir)
	s := starter{Storage: Storage{StateDir: dir}, Patience: 50 * time.Millisecond}
	checkLine(t, s.reach(t.Context(), absent), []string{"another window", "hangs", "runner.log"})
}

// A window that was stopped while it had the lock keeps nobody from a runner that
// is there.
func TestRunnerIsFoundWhileSomebodyHasTheLock(t *testing.T) {
	dir := stateDir(t)
	holder(t, dir)
	tries := 0
	s := starter{Storage: Storage{StateDir: dir}, Patience: time.Minute}
	err := s.reach(t.Context(), func(dial dialer) error {
		if tries++; tries < 3 {
			return absent(dial)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
