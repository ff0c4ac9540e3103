package taskstate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// killedWith is a directory as a kill leaves it, with tasks whose records only the
// journal has.
func killedWith(t *testing.T, n int) (dir string, ids []string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir, nil)
	for range n {
		ids = append(ids, create(t, s, Task{}).ID)
	}
	return copyStore(t, dir), ids
}

// The journal of another store is of the same form, and may have the very numbers that
// come next here.
func TestJournalOfAnotherStoreIsNotBelieved(t *testing.T) {
	mine, ids := killedWith(t, 3)
	other, others := killedWith(t, 5)
	data, err := os.ReadFile(filepath.Join(other, journalFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(mine, journalFile), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, mine, nil)
	for _, id := range others {
		if got, err := s.Get(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("a task of the other store: %v, %v", got, err)
		}
	}
	for _, id := range ids {
		if _, err := s.Get(id); err == nil {
			return // Badger had them already: nothing was lost
		}
	}
	if s.loss == nil {
		t.Error("what is missing is not noticed")
	}
}

// Two copies of one store go on, each by itself.
func TestJournalOfACopyThatWentOnIsNotBelieved(t *testing.T) {
	first := t.TempDir()
	s := open(t, first, nil)
	done := create(t, s, Task{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	second := copyStore(t, first)
	a, b := open(t, first, nil), open(t, second, nil)
	complete(t, a, done.ID, []byte("{}"))
	theirs := create(t, b, Task{}).ID
	killed := copyStore(t, first)
	data, err := os.ReadFile(filepath.Join(second, journalFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(killed, journalFile), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, killed, nil)
	if _, err := c.Get(theirs); !errors.Is(err, ErrNotFound) {
		t.Errorf("a task of the other copy: %v", err)
	}
	if got, err := c.Get(done.ID); err == nil && !got.Status.Terminal() && c.loss == nil {
		t.Errorf("the task is %s again, and nobody says so", got.Status)
	}
}

// What is written to a file that was deleted, nobody will find.
func TestNoTaskIsTakenWithoutAJournal(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, nil)
			id := create(t, s, Task{}).ID
			if err := harm(filepath.Join(dir, journalFile)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Create(t.Context(), Task{TTL: time.Hour}); err == nil || !strings.Contains(err.Error(), journalFile) {
				t.Errorf("Create: %v", err)
			}
			if _, err := s.Get(id); err != nil {
				t.Errorf("the task of before: %v", err)
			}
		})
	}
}
