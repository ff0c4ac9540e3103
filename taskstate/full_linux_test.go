package taskstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a tmpfs of 120 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=120m,mode=700"); err != nil {
		t.Skipf("a small disk cannot be made here (needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillTo leaves free bytes on the disk.
func fillTo(t *testing.T, disk string, free uint64) {
	t.Helper()
	path := filepath.Join(disk, "filler")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	now, err := freeSpace(disk)
	if err == nil && now > free {
		err = exec.Command("fallocate", "-l", fmt.Sprint(now-free), path).Run()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFullDiskEndsNoProcessAndLosesNothing(t *testing.T) {
	disk := smallDisk(t)
	dir := filepath.Join(disk, "state")
	tell, c := obey(t, dir)
	expect(t, tell, "", "open false")
	first, second := tell("create first"), tell("create second")
	fillTo(t, disk, 50<<20)
	expect(t, tell, "create never", "error: task store "+dir)
	expect(t, tell, "finish "+first, "ok")
	fillTo(t, disk, 0)
	expect(t, tell, "create never", "error: task store "+dir)
	expect(t, tell, "finish "+second, "ok")
	expect(t, tell, "get "+first, "completed")
	expect(t, tell, "get "+second, "completed")
	if got := expect(t, tell, "close", "error: "); !strings.Contains(got, second) || !strings.Contains(got, "not closed in order") {
		t.Error(got)
	}
	c.stdin.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("the process died: %v", err)
	}
	if _, err := Open(context.Background(), dir, nil); !errors.Is(err, ErrNoSpace) {
		t.Errorf("opened on a full disk: %v", err)
	}
	fillTo(t, disk, 110<<20)
	s := open(t, dir, nil)
	if s.Loss() != nil || get(t, s, first).Status != Completed || get(t, s, second).Status != Working {
		t.Errorf("%v, %+v", s.Loss(), s.Running())
	}
	create(t, s, Task{})
}

func TestDiskThatFillsUpUnderLoadRefusesInTime(t *testing.T) {
	disk := smallDisk(t)
	dir := filepath.Join(disk, "state")
	tell, c := obey(t, dir)
	expect(t, tell, "", "open false")
	var stored []string
	for {
		got := tell("large x")
		if strings.HasPrefix(got, "error") {
			if !strings.Contains(got, ErrNoSpace.Error()) {
				t.Error(got)
			}
			break
		}
		stored = append(stored, got)
	}
	expect(t, tell, "close", "ok")
	c.stdin.Close()
	c.cmd.Wait()
	if len(stored) < 5 {
		t.Errorf("only %d tasks fit", len(stored))
	}
	s := open(t, dir, &Options{Reserve: 8 << 20})
	for _, id := range stored {
		if got := get(t, s, id); len(got.Request) != 1<<20 {
			t.Errorf("%s has %d bytes", id, len(got.Request))
		}
	}
}
