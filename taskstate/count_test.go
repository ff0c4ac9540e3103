package taskstate

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// checkStored compares the number of tasks that is kept with those that are there.
func checkStored(t *testing.T, s *Store, want int) {
	t.Helper()
	there := len(entries(t, s, headerPrefix))
	if n, _ := s.Usage(); n != want || there != want {
		t.Errorf("counted %d, there are %d, want %d", n, there, want)
	}
}

// expireUntil deletes what expires up to a time.
func expireUntil(t *testing.T, s *Store, until time.Time) {
	t.Helper()
	o := newOp(opExpire, "")
	o.until = until
	if err := s.submit(o); err != nil {
		t.Fatal(err)
	}
}

// plant writes entries of the index of expiry that no end has written.
func plant(t *testing.T, s *Store, task Task, at ...time.Time) {
	t.Helper()
	settle(t, s)
	err := s.db.Update(func(txn *badger.Txn) error {
		var w writer
		for _, due := range at {
			w.set(expiryKey(due, task.ID), expiryEntry(task, 1))
		}
		return w.into(txn)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// inDoubt has a closed store found with a loss the next time.
func inDoubt(t *testing.T, s *Store) {
	t.Helper()
	last := tally{changes: s.changes, suspect: true}.encode()
	if err := os.WriteFile(filepath.Join(s.dir, tallyFile), last, 0o600); err != nil {
		t.Fatal(err)
	}
}

// One who was told that the store is full believes the count.
func TestTaskThatIsTwiceInTheIndexOfExpiryIsCountedOnce(t *testing.T) {
	for name, apart := range map[string]time.Duration{"both due at once": time.Minute, "one after the other": 3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir(), &Options{SweepEvery: 100 * time.Hour})
			create(t, s, Task{})
			ended := complete(t, s, create(t, s, Task{}).ID, []byte("x"))
			plant(t, s, ended, ended.expiry().Add(apart))
			expireUntil(t, s, ended.expiry().Add(time.Hour))
			checkStored(t, s, 1)
			expireUntil(t, s, ended.expiry().Add(5*time.Hour))
			checkStored(t, s, 1)
			if left := entries(t, s, expiryPrefix); len(left) != 0 {
				t.Errorf("%d entries are left", len(left))
			}
		})
	}
}

func TestTaskThatRunsIsNotDeletedForAnEntryThatShouldNotBeThere(t *testing.T) {
	s := open(t, t.TempDir(), &Options{SweepEvery: 100 * time.Hour})
	task := create(t, s, Task{Request: []byte("q")})
	plant(t, s, task, task.CreatedAt)
	expireUntil(t, s, task.CreatedAt)
	checkStored(t, s, 1)
	complete(t, s, task.ID, []byte("x"))
	settle(t, s)
	if got := get(t, s, task.ID); string(got.Outcome) != "x" {
		t.Errorf("%+v", got)
	}
	expireUntil(t, s, task.CreatedAt.Add(2*time.Hour))
	checkStored(t, s, 0)
}

// The clock is set back, so that entries move; then a loss has all indexes made anew.
func TestIndexThatIsMadeAnewAfterTheClockWasSetBackHoldsNoTaskTwice(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var c setClock
		c.by.Store(int64(24 * 365 * time.Hour))
		s := open(t, dir, c.options())
		create(t, s, Task{})
		for range 3 {
			complete(t, s, create(t, s, Task{TTL: time.Hour}).ID, []byte("x"))
		}
		time.Sleep(2 * time.Minute)
		c.by.Store(0)
		time.Sleep(10 * time.Minute)
		shut(t, s)
		inDoubt(t, s)
		s = open(t, dir, c.options())
		if n := len(entries(t, s, expiryPrefix)); n != 3 || s.Loss() == nil {
			t.Errorf("%d entries for 3 tasks, %v", n, s.Loss())
		}
		time.Sleep(3 * time.Hour)
		checkStored(t, s, 1)
		shut(t, s)
	})
}

func TestEndThatWasLostLeavesNoEntryByWhichTheTaskIsDeleted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	task := create(t, s, Task{Request: []byte("q")})
	plant(t, s, task, task.CreatedAt.Add(time.Minute))
	shut(t, s)
	inDoubt(t, s)
	s = open(t, dir, &Options{SweepEvery: time.Hour})
	if n := len(entries(t, s, expiryPrefix)); n != 0 || s.Loss() == nil {
		t.Errorf("%d entries for a task that runs, %v", n, s.Loss())
	}
}
