package taskstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// hurtFile damages one file of a store in one of three ways and says how.
func hurtFile(t *testing.T, dir string, rnd *rand.Rand) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	path := files[rnd.IntN(len(files))]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	used := len(bytes.TrimRight(b, "\x00")) + 1
	at := rnd.IntN(used)
	how := fmt.Sprintf("%s, %d of %d bytes in use: ", filepath.Base(path), at, used)
	switch n := rnd.IntN(8); {
	case n < 5 && at < len(b):
		err = writeAt(path, []byte{b[at] ^ 1<<rnd.IntN(8)}, int64(at))
		how += "a bit turned"
	case n < 7:
		err = os.Truncate(path, int64(at))
		how += "cut"
	default:
		err = os.Remove(path)
		how += "deleted"
	}
	if err != nil {
		t.Fatal(err)
	}
	return how
}

func writeAt(path string, b []byte, at int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(b, at)
	return err
}

// Whatever happens to one file: the store says so, and nothing that it still
// says is wrong.
func TestNoDamageToAFileGoesUnnoticed(t *testing.T) {
	const cases = 12 // of each kind; 250 take some five minutes
	for _, how := range []struct {
		part string
		kill bool
	}{{"fill", false}, {"fill", true}, {"fresh", true}} {
		whole, ids := filledBy(t, how.part, how.kill)
		want := viewStore(t, copyStore(t, whole), ids)
		if want.Refused || want.Loss || len(want.Unsent) != 3 {
			t.Fatalf("undamaged: %+v", want)
		}
		for seed := range uint64(cases) {
			t.Run(fmt.Sprintf("%s/killed=%t/%d", how.part, how.kill, seed), func(t *testing.T) {
				dir := copyStore(t, whole)
				how := hurtFile(t, dir, rand.New(rand.NewPCG(seed, 1)))
				got := viewStore(t, dir, ids)
				for _, fault := range judge(dir, want, got) {
					t.Errorf("%s: %s", how, fault)
				}
			})
		}
	}
}

// judge returns what is wrong with what a damaged store says.
func judge(dir string, want, got viewed) (faults []string) {
	if got.Refused {
		if !got.Damaged || !strings.Contains(got.Err, dir) {
			faults = append(faults, "refused with "+got.Err)
		}
		return faults
	}
	if got.Loss && len(got.Unsent) > 0 {
		faults = append(faults, fmt.Sprintf("would send %v", got.Unsent))
	}
	for id, w := range want.Tasks {
		g := got.Tasks[id]
		lost, known := strings.HasPrefix(g.Err, "damaged=false"), strings.HasPrefix(g.Err, "damaged=true")
		earlier := got.Loss && (lost || !g.Status.Terminal() || g.Status == w.Status && bytes.Equal(g.Outcome, w.Outcome))
		same := g.Err == "" && g.Status == w.Status && g.Dispatched == w.Dispatched && bytes.Equal(g.Request, w.Request) && bytes.Equal(g.Outcome, w.Outcome)
		if !same && !known && !earlier {
			faults = append(faults, fmt.Sprintf("%s is %s %q, was %s", id, g.Status, g.Err, w.Status))
		}
	}
	return faults
}

func TestLostEndOfALogIsSaidOnceAndNothingOfItIsSent(t *testing.T) {
	dir, ids := filled(t, true)
	logs, _ := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err := errors.Join(os.Truncate(logs[0], 4000), os.Remove(filepath.Join(dir, journalFile))); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, nil)
	if err := s.Loss(); err == nil || !strings.Contains(err.Error(), filepath.Base(logs[0])) || !strings.Contains(err.Error(), "changes are missing") {
		t.Errorf("%v", err)
	}
	get(t, s, ids[0]) // it was the first, and not sent
	for range 2 {
		if len(s.Running()) == 0 {
			t.Error("nothing was left")
		}
		for _, task := range s.Running() {
			if !task.Dispatched {
				t.Errorf("%s would be sent", task.ID)
			}
		}
		shut(t, s)
		if s = open(t, dir, nil); s.Loss() != nil {
			t.Errorf("said again: %v", s.Loss())
		}
	}
}

func TestLostEndOfALogIsMadeGoodFromTheJournal(t *testing.T) {
	dir, ids := filled(t, true)
	want := viewStore(t, copyStore(t, dir), ids)
	logs, _ := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err := os.Truncate(logs[0], 4000); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, viewStore(t, dir, ids)); diff != "" {
		t.Error(diff)
	}
}

func TestStoreThatLostEverythingIsNotTakenForANewOne(t *testing.T) {
	dir, _ := filled(t, true)
	for _, pattern := range []string{"*.mem", "*.vlog", "KEYREGISTRY"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2 {
		if got := viewStore(t, dir, nil); !got.Damaged || !strings.Contains(got.Err, "empty after") {
			t.Errorf("%+v", got)
		}
	}
	if moved, err := Repair(dir); err != nil || moved == "" {
		t.Errorf("%q, %v", moved, err)
	}
	shut(t, open(t, dir, nil))
}
