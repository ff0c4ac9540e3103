package taskstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A directory that is gone, or is another one now, still takes what Badger writes,
// and nobody would ever find it.
func TestDirectoryThatIsTakenAwayTakesNoTasks(t *testing.T) {
	away := filepath.Join(t.TempDir(), "away")
	for name, take := range map[string]func(dir string) error{
		"moved":   func(dir string) error { return os.Rename(dir, away) },
		"deleted": os.RemoveAll,
		"emptied": func(dir string) error {
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			for _, f := range files {
				os.Remove(f)
			}
			return nil
		},
		"replaced": func(dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			other, err := Open(context.Background(), dir, nil)
			if err != nil {
				return err
			}
			return other.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			s := open(t, dir, nil)
			ended, running := create(t, s, Task{}).ID, create(t, s, Task{Request: []byte("q")}).ID
			complete(t, s, ended, []byte("result"))
			if err := take(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Create(t.Context(), Task{TTL: 1}); err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("Create: %v", err)
			}
			if err := s.MarkDispatched(t.Context(), running); err == nil {
				t.Error("MarkDispatched: a request may be sent that nothing remembers")
			}
			complete(t, s, running, []byte("result"))
			for _, id := range []string{ended, running} {
				if got := get(t, s, id); string(got.Outcome) != "result" {
					t.Errorf("%+v", got)
				}
			}
			started := time.Now()
			if err := s.Close(); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), running) {
				t.Errorf("Close: %v", err)
			}
			if took := time.Since(started); took > closeWait/2 {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

func TestDirectoryThatIsPutBackIsUsedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir, nil)
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), Task{TTL: 1}); err == nil {
		t.Error("stored in a directory that is not there")
	}
	if err := os.Rename(dir+"2", dir); err != nil {
		t.Fatal(err)
	}
	id := create(t, s, Task{}).ID
	shut(t, s)
	s = open(t, dir, nil)
	get(t, s, id)
	if s.Loss() != nil {
		t.Error(s.Loss())
	}
}

func TestTallyIsReadAsItWasWritten(t *testing.T) {
	for _, want := range []tally{{}, {changes: 1, manifest: 28}, {changes: 1<<64 - 1, manifest: 1 << 40, suspect: true}} {
		got, err := parseTally(want.encode())
		if err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
		for i := range want.encode() {
			bad := want.encode()
			bad[i] ^= 1
			if _, err := parseTally(bad); !errors.Is(err, errBadRecord) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	if a, b := (tally{}).encode(), (tally{changes: 1 << 63, suspect: true}).encode(); len(a) != len(b) {
		t.Errorf("%d and %d bytes: one does not overwrite the other", len(a), len(b))
	}
}

func TestTallyThatIsGoneOrDamagedCostsNothing(t *testing.T) {
	for name, hurt := range map[string]func(path string) error{
		"gone":    os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("changes"), 0o600) },
		"longer":  func(path string) error { return os.WriteFile(path, make([]byte, 1<<10), 0o600) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, id, _ := twoTasks(t)
			if err := hurt(filepath.Join(dir, tallyFile)); err != nil {
				t.Fatal(err)
			}
			s := open(t, dir, nil)
			get(t, s, id)
			create(t, s, Task{})
			shut(t, s)
			if got, found, err := readTally(dir); err != nil || !found || got.changes != 5 {
				t.Errorf("%+v, %t, %v", got, found, err)
			}
		})
	}
}
