package taskstate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
