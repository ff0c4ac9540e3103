package taskstate

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// childEnv names the part that this binary plays when a test starts it again.
const childEnv = "TASKSTATE_TEST_CHILD"

// parts are what this binary can play, on a directory.
var parts = map[string]func(dir string){
	"hold": childHold, "write": childWrite, "fill": childFill, "fresh": childFresh, "view": childView,
}

func TestMain(m *testing.M) {
	if part := os.Getenv(childEnv); part != "" {
		parts[part](os.Args[1])
	}
	os.Exit(m.Run())
}

// child is this test binary, run again on a directory.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func startChild(t *testing.T, part, dir string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), childEnv+"="+part)
	cmd.Stderr = os.Stderr
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
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return &child{cmd, stdin, bufio.NewScanner(stdout)}
}

func open(t testing.TB, dir string, opts *Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func shut(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func create(t testing.TB, s *Store, task Task) Task {
	t.Helper()
	if task.TTL == 0 {
		task.TTL = time.Hour
	}
	task, err := s.Create(context.Background(), task)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	return task
}

func dispatch(t testing.TB, s *Store, id string) {
	t.Helper()
	if err := s.MarkDispatched(context.Background(), id); err != nil {
		t.Fatalf("MarkDispatched: %v", err)
	}
}

func complete(t testing.TB, s *Store, id string, payload []byte) Task {
	t.Helper()
	task, err := s.Finish(context.Background(), id, Outcome{Status: Completed, Payload: payload})
	if err != nil {
		t.Fatalf("Finish: %v", err)
	}
	return task
}

func get(t testing.TB, s *Store, id string) Task {
	t.Helper()
	task, err := s.Get(id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return task
}
