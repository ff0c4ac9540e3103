package taskstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestDiskThatFailsCostsNoTaskAndHealsByItself(t *testing.T) {
	dir := t.TempDir()
	tell, c := obeyDisturbed(t, dir)
	early, ended := tell("create early"), tell("create ended")
	tell("disk fails")
	for range 3 {
		expect(t, tell, "create never", "error: task store: ")
	}
	expect(t, tell, "finish "+ended, "ok")
	expect(t, tell, "get "+ended, "completed \"result")
	expect(t, tell, "get "+early, "working")
	expect(t, tell, "list", "2")
	tell("disk works")
	later := tell("create later")
	for deadline := time.Now().Add(30 * time.Second); strings.HasPrefix(later, "error"); later = tell("create later") {
		if time.Now().After(deadline) {
			t.Fatalf("not healed: %s", later)
		}
	}
	expect(t, tell, "list", "3")
	expect(t, tell, "get "+ended, "completed \"result")
	expect(t, tell, "close", "ok")
	c.stdin.Close()
	c.cmd.Wait()
	s := open(t, dir, nil)
	if s.Loss() != nil {
		t.Error(s.Loss())
	}
	if got := get(t, s, ended); string(got.Outcome) != "result of "+ended {
		t.Errorf("%+v", got)
	}
	if got := s.Running(); len(got) != 2 || got[0].ID != early || got[1].ID != later || string(got[0].Request) != "early" {
		t.Errorf("%+v", got)
	}
}

// What was acknowledged is in the journal; Badger must get it all the same.
func TestDiskThatFailsAfterAChangeWasAcknowledgedLosesItNot(t *testing.T) {
	dir := t.TempDir()
	tell, c := obeyDisturbed(t, dir)
	early, ended := tell("create early"), tell("create ended")
	expect(t, tell, "finish "+ended, "ok")
	tell("disk fails")
	tell("list") // makes Badger try
	expect(t, tell, "get "+ended, "completed \"result")
	tell("disk works")
	later := tell("create later")
	for deadline := time.Now().Add(30 * time.Second); strings.HasPrefix(later, "error"); later = tell("create later") {
		if time.Now().After(deadline) {
			t.Fatalf("not healed: %s", later)
		}
	}
	expect(t, tell, "list", "3")
	c.cmd.Process.Kill()
	c.cmd.Wait()
	s := open(t, dir, nil)
	if s.Loss() != nil || string(get(t, s, ended).Outcome) != "result of "+ended || string(get(t, s, early).Request) != "early" {
		t.Errorf("%v, %+v, %+v", s.Loss(), get(t, s, ended), get(t, s, early))
	}
	get(t, s, later)
}

// What failed to be stored may be on disk, and the caller may have sent it.
func TestAfterAFailedWriteNothingIsSentAgain(t *testing.T) {
	dir := t.TempDir()
	tell, c := obeyDisturbed(t, dir)
	early := tell("create early")
	tell("disk fails")
	expect(t, tell, "create never", "error: task store: ")
	c.cmd.Process.Kill()
	c.cmd.Wait()
	s := open(t, dir, nil)
	if s.Loss() == nil {
		t.Error("nothing is said to be in doubt")
	}
	get(t, s, early)
	for range 2 {
		for _, task := range s.Running() {
			if !task.Dispatched || task.Request != nil {
				t.Errorf("%s would be sent", task.ID)
			}
		}
		shut(t, s)
		if s = open(t, dir, nil); s.Loss() != nil {
			t.Errorf("still in doubt: %v", s.Loss())
		}
	}
}

func TestSlowDiskHoldsUpNoReader(t *testing.T) {
	tell, _ := obeyDisturbed(t, t.TempDir())
	id := tell("create x")
	tell("disk slow")
	if got := tell("race " + id); got != "true true <nil>" {
		t.Errorf("readers fast, writer slow: %s", got)
	}
}

func TestReadOnlyDirectoryIsRefusedAndSaysWhy(t *testing.T) {
	dir := t.TempDir()
	shut(t, open(t, dir, nil))
	if err := errors.Join(unix.Mount(dir, dir, "", unix.MS_BIND, ""), unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")); err != nil {
		t.Skipf("nothing can be mounted here (needs root): %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	_, err := Open(context.Background(), dir, nil)
	var damaged *DamagedError
	if err == nil || errors.As(err, &damaged) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), syscall.EROFS.Error()) {
		t.Errorf("%v", err)
	}
	if moved, err := Repair(dir); err == nil || moved != "" {
		t.Errorf("repaired: %q, %v", moved, err)
	}
}

func TestFileThatEndsTooSoonUnderARunningProcessDoesNotEndIt(t *testing.T) {
	dir, hurt, _ := twoTasks(t)
	s := open(t, dir, nil)
	get(t, s, hurt)
	logs, _ := filepath.Glob(filepath.Join(dir, "*.vlog"))
	if err := os.Truncate(logs[0], 0); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := s.Get(hurt); !errors.As(err, &damaged) || damaged.ID != hurt {
		t.Errorf("%v", err)
	}
	create(t, s, Task{})
}
