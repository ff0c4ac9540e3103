package taskstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// seen is what a store says of a task.
type seen struct {
	Status     Status
	Dispatched bool
	Request    []byte
	Outcome    []byte
	Err        string
}

// view of a whole store: why it was not opened, or what is in it.
type viewed struct {
	Refused, Damaged bool
	Err              string
	Loss             bool
	Tasks            map[string]seen
	Unsent           []string // in Running
}

// childFill makes one task of each kind and names them; then it is killed, or
// told to close the store. Badger has all of them by then, but of childFresh's.
func childFill(dir string)  { fillStore(dir, (*Store).drain) }
func childFresh(dir string) { fillStore(dir, func(*Store) error { return nil }) }

func fillStore(dir string, after func(*Store) error) {
	s, err := Open(context.Background(), dir, &Options{SweepEvery: time.Hour})
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	ctx := context.Background()
	for i := range 12 {
		task, err := s.Create(ctx, Task{Owner: "me", TTL: time.Hour, Request: bytes.Repeat([]byte{byte(i)}, 10+i%3*5000)})
		if err == nil && i%4 > 0 {
			err = s.MarkDispatched(ctx, task.ID)
		}
		if err == nil && i%4 > 1 {
			_, err = s.Finish(ctx, task.ID, Outcome{Status: Failed, Payload: bytes.Repeat([]byte{byte(i)}, 20+i%3*5000)})
		}
		if err == nil {
			err = after(s)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		fmt.Println(task.ID)
	}
	fmt.Println("done")
	io.Copy(io.Discard, os.Stdin)
	s.Close()
	os.Exit(0)
}

// childView opens a store and says what it finds of the tasks named on stdin.
func childView(dir string) {
	v := viewed{Tasks: make(map[string]seen)}
	s, err := Open(context.Background(), dir, &Options{SweepEvery: time.Hour})
	if err != nil {
		var damaged *DamagedError
		v.Damaged = errors.As(err, &damaged)
		v.Refused, v.Err = true, err.Error()
	} else {
		v.Loss = s.Loss() != nil
		ids, _ := io.ReadAll(os.Stdin)
		for _, id := range strings.Fields(string(ids)) {
			t, err := s.Get(id)
			v.Tasks[id] = seen{t.Status, t.Dispatched, t.Request, t.Outcome, ""}
			if err != nil {
				var damaged *DamagedError
				v.Tasks[id] = seen{Err: fmt.Sprintf("damaged=%t %v", errors.As(err, &damaged), err)}
			}
		}
		for _, t := range s.Running() {
			if !t.Dispatched {
				v.Unsent = append(v.Unsent, t.ID)
			}
		}
	}
	json.NewEncoder(os.Stdout).Encode(v)
	os.Exit(0)
}

func viewStore(t *testing.T, dir string, ids []string) viewed {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], dir)
	cmd.Env = append(os.Environ(), childEnv+"=view")
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("opening it ended the process: %v\n%.2000s", err, stderr.String())
	}
	var v viewed
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// filled is a store that was closed, or whose process was killed.
func filled(t *testing.T, kill bool) (dir string, ids []string) { return filledBy(t, "fill", kill) }

func filledBy(t *testing.T, part string, kill bool) (dir string, ids []string) {
	t.Helper()
	dir = t.TempDir()
	c := startChild(t, part, dir)
	for c.lines.Scan() && c.lines.Text() != "done" {
		ids = append(ids, c.lines.Text())
	}
	if kill {
		c.cmd.Process.Kill()
	}
	c.stdin.Close()
	c.cmd.Wait()
	if len(ids) != 12 {
		t.Fatalf("%d tasks", len(ids))
	}
	return dir, ids
}

// copyStore copies the files, holes included.
func copyStore(t *testing.T, from string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(from, "*"))
	for _, path := range files {
		var f *os.File
		if f, err = os.Open(path); err != nil {
			break
		}
		info, _ := f.Stat()
		if err = unpackFile(filepath.Join(to, filepath.Base(path)), f, info.Size()); err != nil {
			break
		}
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}
