package taskstate

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// outcomeFor is what the writing child stores for a task: of varied size, some
// in the value log, and such that the parent can tell what it must be.
func outcomeFor(id string) []byte {
	return bytes.Repeat([]byte(id), 1+int(id[0])*int(id[1])%700)
}

// childWrite makes, dispatches and ends tasks, with the garbage collection
// running all the time, and prints what has been acknowledged, until it is killed.
func childWrite(dir string) {
	o := Options{SweepEvery: 20 * time.Millisecond}
	s, err := openStore(context.Background(), dir, o.withDefaults())
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	s.gcAfter = 256 << 10
	s.start()
	for range 8 {
		go writeTasks(s)
	}
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0) // the parent is gone
}

func writeTasks(s *Store) {
	ctx := context.Background()
	for {
		short, err1 := s.Create(ctx, Task{TTL: 1, Request: []byte("soon gone")})
		_, err2 := s.Finish(ctx, short.ID, Outcome{Status: Completed, Payload: outcomeFor(rand.Text())})
		task, err3 := s.Create(ctx, Task{TTL: time.Hour, Request: []byte("request")})
		fmt.Println("created", task.ID)
		err4 := s.MarkDispatched(ctx, task.ID)
		fmt.Println("dispatched", task.ID)
		_, err5 := s.Finish(ctx, task.ID, Outcome{Status: Completed, Payload: outcomeFor(task.ID)})
		fmt.Println("finished", task.ID)
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
	}
}

// killWriter runs a writing child until it has acknowledged n steps, kills it
// and adds to acked the last step of each task.
func killWriter(t *testing.T, dir string, n int, acked map[string]string) {
	t.Helper()
	c := startChild(t, "write", dir)
	seen := 0
	for c.lines.Scan() {
		if step, id, ok := strings.Cut(c.lines.Text(), " "); ok && len(id) == idLen {
			acked[id] = step
			seen++
		}
		if seen == n {
			c.cmd.Process.Kill()
		}
	}
	if err := c.cmd.Wait(); err == nil || seen < n {
		t.Fatalf("child: %v after %d steps", err, seen)
	}
}

func TestKilledProcessLosesNothingItAcknowledged(t *testing.T) {
	dir := t.TempDir()
	acked := make(map[string]string)
	for round := range 4 {
		killWriter(t, dir, 150+100*round, acked)
		s := open(t, dir, nil)
		if s.Loss() != nil {
			t.Errorf("nothing was lost, but %v", s.Loss())
		}
		running := make(map[string]bool)
		for _, task := range s.Running() {
			running[task.ID] = true
		}
		for id, step := range acked {
			checkAcked(t, get(t, s, id), step, running[id])
		}
		shut(t, s)
	}
}

// checkAcked allows a task to be one step further than was acknowledged.
func checkAcked(t *testing.T, got Task, step string, running bool) {
	t.Helper()
	finished := got.Status == Completed
	switch {
	case finished == running:
		t.Errorf("task %s is %s, Running lists it: %v", got.ID, got.Status, running)
	case step == "finished" && !finished:
		t.Errorf("task %s lost its end", got.ID)
	case step != "created" && !got.Dispatched:
		t.Errorf("task %s would be sent twice", got.ID)
	case finished && !bytes.Equal(got.Outcome, outcomeFor(got.ID)):
		t.Errorf("task %s: wrong outcome of %d bytes", got.ID, len(got.Outcome))
	case !got.Dispatched && string(got.Request) != "request":
		t.Errorf("task %s lost its request", got.ID)
	}
}
