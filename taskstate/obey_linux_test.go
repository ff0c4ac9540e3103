package taskstate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func init() { parts["obey"] = childObey }

// childObey has a store open and does what it is told on stdin, a line each; it
// answers each with a line.
func childObey(dir string) {
	s, err := Open(context.Background(), dir, &Options{SweepEvery: time.Hour})
	if err != nil {
		fmt.Println(oneLine("", err))
		os.Exit(0)
	}
	s.healEvery = 100 * time.Millisecond
	fmt.Println("open", s.Loss() != nil)
	o := obedient{store: s}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		verb, arg, _ := strings.Cut(in.Text(), " ")
		fmt.Println(oneLine(o.do(verb, arg)))
	}
	os.Exit(0)
}

func oneLine(answer string, err error) string {
	if err != nil {
		answer = "error: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return answer
}

type obedient struct {
	store *Store
	disk  *disturbed
}

func (o *obedient) do(verb, arg string) (answer string, err error) {
	switch verb {
	case "disturb":
		o.disk, err = disturb()
	case "disk":
		o.disk.mode.Store(map[string]int32{"works": diskWorks, "fails": diskFails, "slow": diskSlow}[arg])
	case "finish":
		_, err = o.store.Finish(context.Background(), arg, Outcome{Status: Completed, Payload: []byte("result of " + arg)})
	case "close":
		err = o.store.Close()
	default:
		return o.tell(verb, arg)
	}
	return "ok", err
}

// tell does what has more of an answer.
func (o *obedient) tell(verb, arg string) (answer string, err error) {
	switch verb {
	case "create", "large":
		request := []byte(arg)
		if verb == "large" {
			request = bytes.Repeat(request, 1<<20)
		}
		t, err := o.store.Create(context.Background(), Task{Owner: "me", TTL: time.Hour, Request: request})
		return t.ID, err
	case "get":
		t, err := o.store.Get(arg)
		return fmt.Sprintf("%s %q", t.Status, t.Outcome), err
	case "list":
		tasks, _, err := o.store.List("me", "", 100)
		return fmt.Sprint(len(tasks)), err
	case "race":
		return readDuringAWrite(o.store, o.disk, arg), nil
	}
	return "", errors.New("unknown order " + verb)
}

// readDuringAWrite reads and touches while a write waits for the slow disk.
func readDuringAWrite(s *Store, d *disturbed, id string) string {
	before := d.held.Load()
	done := make(chan error, 1)
	started := time.Now()
	go func() {
		_, err := s.Create(context.Background(), Task{Owner: "me", TTL: time.Hour})
		done <- err
	}()
	for d.held.Load() == before {
		runtime.Gosched()
	}
	var slowest time.Duration
	for {
		at := time.Now()
		s.Touch(id, "alive", nil)
		if t, err := s.Get(id); err != nil || t.StatusMessage != "alive" {
			return fmt.Sprint("error: ", t.StatusMessage, err)
		}
		slowest = max(slowest, time.Since(at))
		select {
		case err := <-done:
			return fmt.Sprintf("%t %t %v", slowest < time.Second, time.Since(started) >= 2*time.Second, err)
		default:
		}
	}
}

// obey starts childObey and returns what tells it to do something.
func obey(t *testing.T, dir string) (tell func(order string) string, c *child) {
	t.Helper()
	c = startChild(t, "obey", dir)
	return func(order string) string {
		t.Helper()
		if order != "" {
			fmt.Fprintln(c.stdin, order)
		}
		if !c.lines.Scan() {
			t.Fatalf("%s: the process died: %v", order, c.cmd.Wait())
		}
		return c.lines.Text()
	}, c
}

// expect tells, and wants the answer to begin with want.
func expect(t *testing.T, tell func(string) string, order, want string) string {
	t.Helper()
	got := tell(order)
	if !strings.HasPrefix(got, want) {
		t.Fatalf("%s: %s, want %s", order, got, want)
	}
	return got
}

// obeyDisturbed is obey with a disk that can be disturbed.
func obeyDisturbed(t *testing.T, dir string) (tell func(string) string, c *child) {
	t.Helper()
	tell, c = obey(t, dir)
	expect(t, tell, "", "open false")
	if got := tell("disturb"); got != "ok" {
		t.Skipf("the system does not let a process filter its own calls: seccomp: %s", got)
	}
	return tell, c
}
