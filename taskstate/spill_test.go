package taskstate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// spilledFiles are the names in the directory of what was spilled.
func spilledFiles(t *testing.T, s *Store) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.dir, spillDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func spill(t *testing.T, s *Store, id string, data []byte) (sum string) {
	t.Helper()
	sum, err := s.Spill(id, data)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestSpilledIsKeptAsLongAsItsTask(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	task := create(t, s, Task{TTL: time.Hour})
	data := bytes.Repeat([]byte("large "), 100_000)
	sum := spill(t, s, task.ID, data)
	complete(t, s, task.ID, []byte("see "+sum))
	s.sweepSpilled(s.gone)
	shut(t, s)
	s = open(t, dir, nil)
	if got, err := s.Spilled(task.ID, sum); err != nil || !bytes.Equal(got, data) {
		t.Errorf("after a restart: %d bytes, %v", len(got), err)
	}
	info, err := os.Stat(s.spillFile(task.ID, sum))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestSpilledGoesWithItsTask(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, nil)
		defer s.Close()
		task := create(t, s, Task{TTL: time.Hour})
		sum := spill(t, s, task.ID, []byte("large"))
		complete(t, s, task.ID, []byte("see "+sum))
		time.Sleep(59 * time.Minute)
		if left := spilledFiles(t, s); len(left) != 1 {
			t.Errorf("before its time: %q", left)
		}
		time.Sleep(3 * time.Minute)
		if left := spilledFiles(t, s); len(left) != 0 {
			t.Errorf("after it: %q", left)
		}
		if _, err := s.Spilled(task.ID, sum); !errors.Is(err, ErrNotFound) {
			t.Errorf("then: %v", err)
		}
	})
}

func TestSpilledThatIsNotWhatWasWrittenIsNotServed(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	task := create(t, s, Task{TTL: time.Hour})
	sum := spill(t, s, task.ID, []byte("large"))
	if err := os.WriteFile(s.spillFile(task.ID, sum), []byte("Large"), 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := s.Spilled(task.ID, sum); !errors.As(err, &damaged) {
		t.Errorf("another content: %v", err)
	}
	for _, wrong := range []string{"", "../MANIFEST", sum[:10], sum + "0"} {
		if _, err := s.Spilled(task.ID, wrong); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// What a process that was killed has left half written goes, and what is being
// written stays.
func TestHalfSpilledIsSwept(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	task := create(t, s, Task{TTL: time.Hour})
	spill(t, s, task.ID, []byte("large"))
	if err := os.WriteFile(filepath.Join(s.dir, spillDir, "new-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.sweepSpilled(s.gone)
	if left := spilledFiles(t, s); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	var sums []string
	over := make(chan struct{})
	go func() {
		defer close(over)
		for i := range 30 {
			sum, err := s.Spill(task.ID, fmt.Appendf(nil, "large %d", i))
			if err != nil {
				t.Error(err)
			}
			sums = append(sums, sum)
		}
	}()
	for swept := false; !swept; {
		s.sweepSpilled(s.unnamed)
		select {
		case <-over:
			swept = true
		default:
		}
	}
	for i, sum := range sums {
		if got, err := s.Spilled(task.ID, sum); err != nil || string(got) != fmt.Sprintf("large %d", i) {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// A disk that is too full for it says so, and nothing is left of the attempt.
func TestSpillingLeavesTheReserve(t *testing.T) {
	var free atomic.Uint64
	free.Store(1 << 30)
	s := open(t, t.TempDir(), &Options{Reserve: 1 << 20, FreeSpace: func(string) (uint64, error) { return free.Load(), nil }})
	task := create(t, s, Task{TTL: time.Hour})
	free.Store(1<<20 + 99)
	if _, err := s.Spill(task.ID, make([]byte, 100)); !errors.Is(err, ErrNoSpace) {
		t.Errorf("with 99 bytes beside the reserve: %v", err)
	}
	if _, err := s.Spill(task.ID, make([]byte, 99)); err != nil {
		t.Errorf("99 bytes: %v", err)
	}
	if _, err := s.Spill("AAAAAAAAAAAAAAAAAAAAAAAAAA", nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("for no task: %v", err)
	}
}
