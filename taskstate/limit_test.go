package taskstate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// refused wants a LimitError and returns it.
func refused(t *testing.T, err error, limit string, value int64) {
	t.Helper()
	var full *LimitError
	if !errors.Is(err, ErrFull) || !errors.As(err, &full) || full.Limit != limit || full.Value != value || !strings.Contains(err.Error(), limit) {
		t.Fatalf("%v", err)
	}
}

func TestOfSimultaneousCreatesExactlyThoseThatFitAreStored(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &Options{MaxTasks: 25})
	for range 15 {
		complete(t, s, create(t, s, Task{}).ID, nil)
	}
	var stored, full atomic.Int32
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			_, err := s.Create(context.Background(), Task{TTL: time.Hour, Owner: "many"})
			switch {
			case err == nil:
				stored.Add(1)
			case errors.Is(err, ErrFull):
				full.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if stored.Load() != 10 || full.Load() != 54 {
		t.Errorf("%d stored, %d refused", stored.Load(), full.Load())
	}
	shut(t, s)
	s = open(t, dir, &Options{MaxTasks: 26})
	if n, _ := s.Usage(); n != 25 {
		t.Errorf("%d tasks after reopening", n)
	}
	create(t, s, Task{})
	_, err := s.Create(t.Context(), Task{TTL: 1})
	refused(t, err, "stored", 26)
	for _, task := range s.Running() { // a full store goes on with what it has
		dispatch(t, s, task.ID)
		complete(t, s, task.ID, []byte("result"))
	}
}

func TestPlaceOfAnExpiredTaskIsFreeAtOnceAndOfAnotherNever(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, &Options{MaxTasks: 3, SweepEvery: 10 * time.Hour})
		long := create(t, s, Task{TTL: time.Hour}).ID
		short := create(t, s, Task{TTL: time.Minute}).ID
		running := create(t, s, Task{TTL: time.Second}).ID
		complete(t, s, long, []byte("x"))
		complete(t, s, short, []byte("x"))
		time.Sleep(time.Minute - 1)
		_, err := s.Create(t.Context(), Task{TTL: time.Hour})
		refused(t, err, "stored", 3)
		time.Sleep(time.Nanosecond)
		create(t, s, Task{TTL: time.Hour})
		_, err = s.Create(t.Context(), Task{TTL: time.Hour})
		refused(t, err, "stored", 3)
		get(t, s, long)
		get(t, s, running)
		complete(t, s, running, nil) // due earlier than all that was known
		time.Sleep(time.Second)
		create(t, s, Task{TTL: time.Hour})
		if n, _ := s.Usage(); n != 3 {
			t.Errorf("%d tasks are stored", n)
		}
		shut(t, s)
	})
}

func TestNumberOfTasksIsRightAfterAKill(t *testing.T) {
	dir, ids := filled(t, true)
	s := open(t, dir, &Options{MaxTasks: len(ids)})
	_, err := s.Create(t.Context(), Task{TTL: 1})
	refused(t, err, "stored", int64(len(ids)))
}

func TestNumberOfTasksThatIsMissingOrStaleIsCountedAnew(t *testing.T) {
	for name, hurt := range map[string]func(txn *badger.Txn) error{
		"missing":              func(txn *badger.Txn) error { return txn.Delete(storedKey) },
		"damaged":              func(txn *badger.Txn) error { return txn.Set(storedKey, []byte("junk")) },
		"of an earlier change": func(txn *badger.Txn) error { var w writer; w.putCount(1, 77, time.Now()); return w.into(txn) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, _, _ := twoTasks(t)
			s := open(t, dir, nil)
			if err := s.db.Update(hurt); err != nil {
				t.Fatal(err)
			}
			shut(t, s)
			if n, _ := open(t, dir, nil).Usage(); n != 2 {
				t.Errorf("%d tasks", n)
			}
		})
	}
}

func TestFullStoreKeepsWhatRunsAndRefusesTheRest(t *testing.T) {
	const limit = 64 << 20
	dir := t.TempDir()
	s := open(t, dir, &Options{MaxBytes: limit})
	var ids []string
	var err error
	for err == nil {
		var task Task
		if task, err = s.Create(t.Context(), Task{TTL: time.Hour, Request: make([]byte, 1<<20)}); err == nil {
			ids = append(ids, task.ID)
		}
	}
	refused(t, err, "store_bytes", limit)
	if n := len(ids); n < 30 || n > 56 {
		t.Errorf("%d MiB fit into 64", n)
	}
	complete(t, s, ids[0], make([]byte, 1<<20)) // there was room kept back for this
	for err = nil; err == nil && len(ids) > 10; ids = ids[1:] {
		_, err = s.Finish(t.Context(), ids[1], Outcome{Status: Completed, Payload: make([]byte, 2<<20)})
	}
	refused(t, err, "store_bytes", limit)
	_, err = s.Spill(ids[0], make([]byte, 16<<20))
	refused(t, err, "store_bytes", limit)
	for _, id := range ids {
		if task := get(t, s, id); task.Status != Working {
			continue
		}
		task, err := s.Finish(t.Context(), id, Outcome{Status: Failed, Payload: make([]byte, shortEnd)})
		if err != nil || task.Status != Failed {
			t.Errorf("a short end: %+v, %v", task.Status, err)
		}
	}
	// Usage would add what was written in the last second, and replaced since. A file
	// system may give a mapped file its disk in large pieces: ext4 does by 4 MiB.
	if used := diskUsage(dir); used > limit+5<<20 {
		t.Errorf("%d bytes used", used)
	}
}

func TestFullStoreHasRoomAgainWhenItsTasksExpire(t *testing.T) {
	for name, size := range map[string]int{"in the tables": 3 << 10, "in the value log": 256 << 10} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir(), &Options{MaxBytes: 48 << 20, SweepEvery: time.Hour})
			fillUp(t, s, size)
			s.sweep()
			s.collect()
			s.meter.looked = time.Time{}
			if _, used := s.Usage(); used > 24<<20 {
				t.Errorf("%d MB are still in use", used>>20)
			}
			create(t, s, Task{})
		})
	}
}

// fillUp ends tasks with outcomes of a size until the store is full.
func fillUp(t *testing.T, s *Store, size int) {
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for {
				task, err := s.Create(context.Background(), Task{TTL: 1})
				if err == nil {
					_, err = s.Finish(context.Background(), task.ID, Outcome{Status: Completed, Payload: make([]byte, size)})
				}
				if errors.Is(err, ErrFull) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
