package taskstate

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"
)

// These tests run the real Badger on the fake clock of a bubble.

func TestExpiredTaskIsGoneThoughNoSweepHasRun(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := Options{SweepEvery: time.Hour}
		s := open(t, dir, &o)
		id := create(t, s, Task{TTL: 10 * time.Second}).ID
		time.Sleep(3 * time.Second)
		end := complete(t, s, id, []byte("x"))
		if got := end.Retention(time.Now()); got != 13*time.Second {
			t.Errorf("retention %v, want 13s", got)
		}
		time.Sleep(10*time.Second - 1)
		get(t, s, id)
		time.Sleep(time.Nanosecond)
		if _, err := s.Get(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("Get: %v", err)
		}
		if _, err := s.Finish(context.Background(), id, Outcome{Status: Failed}); !errors.Is(err, ErrNotFound) {
			t.Errorf("Finish: %v", err)
		}
		if n := countKeys(t, s); n != 4 {
			t.Errorf("%d keys: a sweep has run", n)
		}
		shut(t, s)
	})
}

func TestIdsBeginWithTheirNodeAndAreServedByAnother(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, &Options{Node: "eu_1"})
		id := create(t, s, Task{TTL: 10 * time.Second}).ID
		if !strings.HasPrefix(id, "eu_1-") {
			t.Errorf("id %q", id)
		}
		shut(t, s)
		s = open(t, dir, &Options{Node: "us", SweepEvery: time.Second})
		complete(t, s, id, []byte("x"))
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if n := countKeys(t, s); n != 0 {
			t.Errorf("%d keys are left after the end of its retention", n)
		}
		shut(t, s)
	})
	for _, node := range []string{"A", "a-b", "a b", strings.Repeat("n", 33)} {
		if _, err := Open(t.Context(), t.TempDir(), &Options{Node: node}); err == nil || !strings.Contains(err.Error(), "node name") {
			t.Errorf("%q: %v", node, err)
		}
	}
}

// countKeys counts the keys of tasks: those under m/ are the store's.
func countKeys(t *testing.T, s *Store) (n int) {
	t.Helper()
	settle(t, s)
	err := s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if !bytes.HasPrefix(it.Item().Key(), []byte("m/")) {
				n++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSweepLeavesNothingOfExpiredTasks(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, &Options{SweepEvery: 10 * time.Second})
		for range sweepChunk + 20 {
			id := create(t, s, Task{TTL: time.Second, Request: []byte("q")}).ID
			complete(t, s, id, []byte("x"))
		}
		kept := create(t, s, Task{TTL: time.Minute}).ID
		complete(t, s, kept, nil)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if n := countKeys(t, s); n != 3 { // header and both indexes of the one that is kept
			t.Errorf("%d keys are left, want 3", n)
		}
		get(t, s, kept)
		shut(t, s)
	})
}

func TestExpiredTasksAreSweptRightAfterOpen(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, nil)
		complete(t, s, create(t, s, Task{TTL: time.Second}).ID, []byte("x"))
		shut(t, s)
		time.Sleep(2 * time.Second)
		s = open(t, dir, nil)
		synctest.Wait()
		if n := countKeys(t, s); n != 0 {
			t.Errorf("%d keys are left, want none", n)
		}
		shut(t, s)
	})
}

func TestWorkingTaskNeverExpires(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, &Options{SweepEvery: time.Second})
		id := create(t, s, Task{TTL: time.Second, Request: []byte("q")}).ID
		for range 30 {
			time.Sleep(1300 * time.Millisecond)
			task := get(t, s, id)
			if left := time.Until(task.CreatedAt.Add(task.Retention(time.Now()))); left <= task.TTL/2 {
				t.Fatalf("%v left", left)
			}
		}
		shut(t, s)
		time.Sleep(time.Minute)
		s = open(t, dir, nil)
		if got := s.Running(); len(got) != 1 || string(got[0].Request) != "q" {
			t.Errorf("%+v", got)
		}
		shut(t, s)
	})
}

func TestTouchShowsAtOnceAndIsWrittenOnceASecond(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, &Options{SweepEvery: time.Hour})
		id := create(t, s, Task{StatusMessage: "start"}).ID
		before := changes(t, dir)
		for i := range 500 {
			time.Sleep(10 * time.Millisecond)
			s.Touch(id, "", []byte{byte('0' + i%10)})
			task := get(t, s, id)
			if !task.UpdatedAt.Equal(time.Now()) || task.Progress[0] != byte('0'+i%10) || task.StatusMessage != "start" {
				t.Fatalf("touch %d: %+v", i, task)
			}
		}
		time.Sleep(1100 * time.Millisecond)
		if n := changes(t, dir) - before; n < 4 || n > 7 {
			t.Errorf("5 s of touches made %d writes", n)
		}
		want := get(t, s, id)
		shut(t, s)
		s = open(t, dir, nil)
		if diff := cmp.Diff(want, get(t, s, id)); diff != "" {
			t.Error(diff)
		}
		shut(t, s)
	})
}

// changes is how many transactions the tally of an open store counts.
func changes(t *testing.T, dir string) uint64 {
	t.Helper()
	got, _, err := readTally(dir)
	if err != nil {
		t.Fatal(err)
	}
	return got.changes
}

func TestTouchBeforeCloseIsWritten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	id := create(t, s, Task{}).ID
	s.Touch(id, "half way", []byte("50"))
	shut(t, s)
	s = open(t, dir, nil)
	if got := get(t, s, id); got.StatusMessage != "half way" || string(got.Progress) != "50" {
		t.Errorf("%+v", got)
	}
}

func TestDispatchDoesNotLookLikeActivity(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, nil)
		task := create(t, s, Task{})
		time.Sleep(time.Second)
		dispatch(t, s, task.ID)
		if got := get(t, s, task.ID).UpdatedAt; !got.Equal(task.UpdatedAt) {
			t.Errorf("UpdatedAt moved by %v", got.Sub(task.UpdatedAt))
		}
		time.Sleep(time.Second)
		end := complete(t, s, task.ID, nil)
		if !end.UpdatedAt.Equal(time.Now()) || !end.FinishedAt.Equal(time.Now()) {
			t.Errorf("%+v", end)
		}
		shut(t, s)
	})
}
