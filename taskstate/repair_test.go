package taskstate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func names(t *testing.T, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

func TestDamagedStoreIsMovedAsideWholeAndANewOneBegins(t *testing.T) {
	dir, id, _ := twoTasks(t)
	for _, name := range []string{"runner.log", "owners.key"} { // of others
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "stray.mem"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, manifestFile), 9); err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	moved, err := Repair(dir)
	if err != nil || filepath.Dir(moved) != dir {
		t.Fatalf("%q, %v", moved, err)
	}
	if diff := cmp.Diff([]string{filepath.Base(moved), "owners.key", "runner.log"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	after := append(names(t, moved), "owners.key", "runner.log")
	slices.Sort(after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	s := open(t, dir, nil)
	if _, err := s.Get(id); !errors.Is(err, ErrNotFound) || s.Loss() != nil {
		t.Errorf("%v, %v", err, s.Loss())
	}
	create(t, s, Task{})
}

func TestStoreThatOpensIsNotMoved(t *testing.T) {
	dir, id, _ := twoTasks(t)
	for range 2 {
		if moved, err := Repair(dir); moved != "" || err != nil {
			t.Fatalf("%q, %v", moved, err)
		}
	}
	get(t, open(t, dir, nil), id)
}

func TestStoreThatIsOpenIsNotMoved(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "hold", dir)
	c.lines.Scan()
	for range 2 {
		var held *HeldError
		if moved, err := Repair(dir); moved != "" || !errors.As(err, &held) || held.PID != c.cmd.Process.Pid {
			t.Errorf("%q, %v", moved, err)
		}
		if err := os.Truncate(filepath.Join(dir, manifestFile), 9); err != nil { // nor once it is damaged
			t.Fatal(err)
		}
	}
}

func TestStoreOfALaterFormatIsNotMoved(t *testing.T) {
	dir, _, _ := twoTasks(t)
	setFormat(t, dir, []byte("3"))
	var damaged *DamagedError
	if moved, err := Repair(dir); moved != "" || err == nil || errors.As(err, &damaged) {
		t.Errorf("%q, %v", moved, err)
	}
}

func TestStoreThatEndedTheProcessThatTriedItIsMoved(t *testing.T) {
	dir, _, _ := twoTasks(t)
	if err := os.WriteFile(filepath.Join(dir, repairFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	moved, err := Repair(dir)
	if err != nil || !exists(filepath.Join(moved, manifestFile)) || !exists(filepath.Join(moved, repairFile)) {
		t.Errorf("%q, %v", moved, err)
	}
}
