package taskstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func init() { parts["spill"] = childSpill }

// childSpill leaves spilled files in each state of their tasks, says which are to be
// kept, and is killed.
func childSpill(dir string) {
	s, err := openStore(context.Background(), dir, (*Options)(nil).withDefaults())
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	s.applying.Go(s.applyLoop)
	s.committer.Go(s.commitLoop) // and no sweeper
	sum := ""
	begin := func(payload string) (id string) {
		task, err1 := s.Create(context.Background(), Task{TTL: time.Hour})
		var err2 error
		sum, err2 = s.Spill(task.ID, []byte("large "+payload))
		err = errors.Join(err, err1, err2)
		return task.ID
	}
	end := func(id string, o Outcome) {
		_, err1 := s.Finish(context.Background(), id, o)
		err = errors.Join(err, err1)
	}
	begin("whose task runs")
	named := begin("that is named")
	fmt.Println(named + "." + sum)
	end(named, Outcome{Status: Completed, Payload: []byte("see " + sum)})
	other := begin("of which another end came first")
	end(other, Outcome{Status: Cancelled})
	err = errors.Join(err, s.writeSpilled(other, sum, []byte("as if it had been killed before it deleted it")))
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	fmt.Println("done")
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func killedSpiller(t *testing.T) (dir string, keep []string) {
	t.Helper()
	dir = t.TempDir()
	c := startChild(t, "spill", dir)
	for c.lines.Scan() && c.lines.Text() != "done" {
		keep = append(keep, c.lines.Text())
	}
	c.cmd.Process.Kill()
	c.cmd.Wait()
	if len(keep) != 1 {
		t.Fatalf("%q", keep)
	}
	return dir, keep
}

func TestSpilledThatNoEndNamesAfterAKillGoesAtTheNextStart(t *testing.T) {
	dir, keep := killedSpiller(t)
	if left, err := os.ReadDir(filepath.Join(dir, spillDir)); len(left) != 3 {
		t.Errorf("%q, %v", left, err)
	}
	s := open(t, dir, &Options{SweepEvery: time.Hour})
	shut(t, s) // waits for the sweeper
	if left := spilledFiles(t, s); !slices.Equal(left, keep) {
		t.Errorf("left: %q, want %q", left, keep)
	}
}

// The end that named it may be what was lost.
func TestAfterALossASpilledFileIsKeptWithItsTask(t *testing.T) {
	dir, _ := killedSpiller(t)
	s := open(t, dir, nil)
	shut(t, s)
	spilled := len(spilledFiles(t, s))
	inDoubt(t, s)
	s = open(t, dir, nil)
	if s.Loss() == nil {
		t.Fatal("no loss")
	}
	s.spilling.Lock()
	err := s.writeSpilled(s.Running()[0].ID, strings.Repeat("0", 64), nil)
	s.spilling.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	s.sweepSpilled(s.unnamed)
	if left := spilledFiles(t, s); len(left) != spilled+1 {
		t.Errorf("left: %q", left)
	}
}

func TestSpilledGoesWhenItsTaskEndsOtherwise(t *testing.T) {
	s := open(t, t.TempDir(), &Options{SweepEvery: time.Hour})
	id := create(t, s, Task{}).ID
	sum := spill(t, s, id, []byte("large"))
	if _, err := s.Finish(t.Context(), id, Outcome{Status: Cancelled}); err != nil {
		t.Fatal(err)
	}
	if left := spilledFiles(t, s); len(left) != 0 {
		t.Errorf("after it was cancelled: %q", left)
	}
	if _, err := s.Finish(t.Context(), id, Outcome{Status: Completed, Payload: []byte(sum)}); !errors.Is(err, ErrFinished) {
		t.Errorf("the late end: %v", err)
	}
	for _, where := range []string{"in memory", "on disk"} {
		if _, err := s.Spill(id, []byte("large")); !errors.Is(err, ErrFinished) || len(spilledFiles(t, s)) != 0 {
			t.Errorf("%s: %v, %q", where, err, spilledFiles(t, s))
		}
		settle(t, s)
	}
}

func TestOfTwoSpilledOnlyTheOneThatTheEndNamesIsKept(t *testing.T) {
	s := open(t, t.TempDir(), &Options{SweepEvery: time.Hour})
	id := create(t, s, Task{}).ID
	first, second := spill(t, s, id, []byte("first")), spill(t, s, id, []byte("second"))
	complete(t, s, id, []byte("see "+second))
	if left := spilledFiles(t, s); !slices.Equal(left, []string{id + "." + second}) {
		t.Errorf("%q of %s and %s", left, first, second)
	}
	if len(s.spilled) != 0 {
		t.Errorf("still noted: %v", s.spilled)
	}
}

// It has no room for the end that names the file; the short one that comes instead
// does not name it.
func TestSpilledGoesWhenTheEndThatNamesItIsRefused(t *testing.T) {
	s := open(t, t.TempDir(), &Options{SweepEvery: time.Hour, MaxBytes: 8 << 20})
	id := create(t, s, Task{}).ID
	other, sum := spill(t, s, id, []byte("other")), spill(t, s, id, []byte("large"))
	end := append([]byte(sum), make([]byte, 9<<20)...)
	if _, err := s.Finish(t.Context(), id, Outcome{Status: Completed, Payload: end}); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	if left := spilledFiles(t, s); !slices.Equal(left, []string{id + "." + other}) {
		t.Errorf("left: %q", left)
	}
	complete(t, s, id, []byte("too large"))
	if left := spilledFiles(t, s); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// Whichever comes first: the file is there if and only if the end that stands names it.
func TestSpillAndCancelAtTheSameTimeLeaveNoFileWithoutItsEnd(t *testing.T) {
	s := open(t, t.TempDir(), &Options{SweepEvery: time.Hour})
	for i := range 40 {
		id := create(t, s, Task{}).ID
		var both sync.WaitGroup
		both.Go(func() {
			sum, err := s.Spill(id, bytes.Repeat([]byte{byte(i)}, 1000*i))
			if err == nil {
				_, err = s.Finish(context.Background(), id, Outcome{Status: Completed, Payload: []byte(sum)})
			}
			if err != nil && !errors.Is(err, ErrFinished) {
				t.Error(err)
			}
		})
		both.Go(func() {
			for range i % 4 {
				_, _ = s.Create(context.Background(), Task{TTL: time.Hour})
			}
			_, _ = s.Finish(context.Background(), id, Outcome{Status: Cancelled})
		})
		both.Wait()
		left := slices.ContainsFunc(spilledFiles(t, s), func(name string) bool { return strings.HasPrefix(name, id) })
		if got := get(t, s, id); left != (got.Status == Completed) {
			t.Errorf("%s, a file: %t", got.Status, left)
		}
	}
}
