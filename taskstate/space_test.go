package taskstate

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// disk is a disk whose free space the test sets.
type disk struct{ free atomic.Uint64 }

func (d *disk) options() *Options {
	d.free.Store(10 << 30)
	return &Options{FreeSpace: func(string) (uint64, error) { return d.free.Load(), nil }}
}

func TestFullDiskRefusesNewTasksAndRecovers(t *testing.T) {
	var d disk
	s := open(t, t.TempDir(), d.options())
	id := create(t, s, Task{Request: []byte("q")}).ID
	d.free.Store(defaultReserve)
	if _, err := s.Create(context.Background(), Task{TTL: 1}); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("Create: %v", err)
	}
	dispatch(t, s, id) // running tasks go on with the other half of the reserve
	complete(t, s, id, []byte("x"))
	d.free.Store(10 << 30)
	create(t, s, Task{})
}

func TestFullDiskRefusesToOpen(t *testing.T) {
	var d disk
	o := d.options()
	d.free.Store(defaultReserve - 1)
	dir := t.TempDir()
	if _, err := Open(context.Background(), dir, o); !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("%v", err)
	}
	d.free.Store(defaultReserve)
	open(t, dir, o)
}

func TestEndThatTheDiskRefusesIsServedAndStoredLater(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		s := open(t, dir, d.options())
		id := create(t, s, Task{TTL: time.Minute, Request: []byte("q")}).ID
		d.free.Store(1 << 20)
		if err := s.MarkDispatched(context.Background(), id); !errors.Is(err, ErrNoSpace) {
			t.Errorf("MarkDispatched: %v", err)
		}
		complete(t, s, id, []byte("result"))
		time.Sleep(5 * time.Second)
		if got := get(t, s, id); got.Status != Completed || string(got.Outcome) != "result" {
			t.Errorf("%+v", got)
		}
		if got, err := s.Finish(context.Background(), id, Outcome{Status: Cancelled}); !errors.Is(err, ErrFinished) || got.Status != Completed {
			t.Errorf("second end: %+v, %v", got, err)
		}
		if len(s.Running()) != 0 || inMemory(s) != 1 {
			t.Errorf("%d running, %d in memory", len(s.Running()), inMemory(s))
		}
		d.free.Store(10 << 30)
		time.Sleep(2 * time.Second)
		if inMemory(s) != 0 {
			t.Error("not stored though there is room again")
		}
		shut(t, s)
		s = open(t, dir, nil)
		if got := get(t, s, id); got.Status != Completed || string(got.Outcome) != "result" {
			t.Errorf("after reopening: %+v", got)
		}
		shut(t, s)
	})
}

func inMemory(s *Store) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live)
}

func TestCloseNamesTheEndsItLost(t *testing.T) {
	var d disk
	dir := t.TempDir()
	s := open(t, dir, d.options())
	id := create(t, s, Task{}).ID
	d.free.Store(closeRoom)
	complete(t, s, id, nil)
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), id) {
		t.Fatalf("Close: %v", err)
	}
	s = open(t, dir, nil)
	if got := s.Running(); len(got) != 1 || got[0].ID != id {
		t.Errorf("%+v", got)
	}
}

func TestUnknownFreeSpaceIsNoPermissionToWrite(t *testing.T) {
	var broken atomic.Bool
	s := open(t, t.TempDir(), &Options{FreeSpace: func(dir string) (uint64, error) {
		if broken.Load() {
			return 0, errors.New("no answer")
		}
		return freeSpace(dir)
	}})
	broken.Store(true)
	if _, err := s.Create(context.Background(), Task{TTL: 1}); err == nil {
		t.Error("Create wrote without knowing the free space")
	}
}
