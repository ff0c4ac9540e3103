package taskstate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// patch calls change with the first file that matches and has mark in it, and
// where mark ends. It reports whether there was one.
func patch(t *testing.T, dir, pattern, mark string, change func(file []byte, at int)) bool {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, pattern))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if before, _, ok := bytes.Cut(b, []byte(mark)); ok {
			change(b, len(before)+len(mark))
			if err := os.WriteFile(f, b, 0o600); err != nil {
				t.Fatal(err)
			}
			return true
		}
	}
	return false
}

// twoTasks leaves a closed store with two finished tasks: the outcomes are in
// the value log, the headers in a table. The one to be hurt comes last, because
// Badger cuts its newest value log file at the first damage when it opens it.
func twoTasks(t *testing.T) (dir, hurt, sound string) {
	dir = t.TempDir()
	s := open(t, dir, nil)
	hurt = create(t, s, Task{Owner: "HURT"}).ID
	sound = create(t, s, Task{Owner: "SOUND"}).ID
	for _, id := range []string{sound, hurt} {
		complete(t, s, id, append([]byte("BEGIN"+id), make([]byte, 20<<10)...))
		settle(t, s)
	}
	shut(t, s)
	return dir, hurt, sound
}

func TestDamagedBytesAreReportedAndNeverServed(t *testing.T) {
	flip := func(n int) func([]byte, int) { return func(b []byte, at int) { b[at+n] ^= 0x40 } }
	for name, c := range map[string]struct {
		pattern string
		mark    func(id string) string
		change  func(file []byte, at int)
		older   bool
	}{
		"in the outcome":       {"*.vlog", func(id string) string { return "BEGIN" + id }, flip(9000), false},
		"in its length":        {"*.vlog", func(id string) string { return "o/" + id }, flip(9), false},
		"under a foreign name": {"*.vlog", func(id string) string { return "o/" + id[:5] }, flip(0), false},
		"outcome wiped":        {"*.vlog", func(id string) string { return "o/" + id }, func(b []byte, at int) { clear(b[at : at+20<<10]) }, false},
		"in an older outcome":  {"*.vlog", func(id string) string { return "BEGIN" + id }, flip(9000), true},
		"in its older length":  {"*.vlog", func(id string) string { return "o/" + id }, flip(-30), true},
		"in the header":        {"*.sst", func(string) string { return "HURT" }, flip(3), false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, id, sound := twoTasks(t)
			if c.older {
				shut(t, open(t, dir, nil)) // the value log goes on in another file
			}
			if !patch(t, dir, c.pattern, c.mark(id), c.change) {
				t.Fatal("nothing there to damage")
			}
			s := open(t, dir, nil)
			_, err := s.Get(id)
			var damaged *DamagedError
			if !errors.As(err, &damaged) || damaged.ID != id || damaged.Dir != dir {
				t.Errorf("%v", err)
			}
			get(t, s, sound)
			closesInTime(t, s)
		})
	}
}

// closesInTime guards against Badger keeping the lock of a file it could not read.
func closesInTime(t *testing.T, s *Store) {
	t.Helper()
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Close hangs")
	}
}

func TestLostHeaderIsDamageAndNotAnUnknownTask(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	id := create(t, s, Task{}).ID
	complete(t, s, id, []byte("x"))
	remove(t, s, headerKey(id))
	var damaged *DamagedError
	if _, err := s.Get(id); !errors.As(err, &damaged) {
		t.Errorf("%v", err)
	}
}

// settle waits until Badger has all that was stored.
func settle(t testing.TB, s *Store) {
	t.Helper()
	if err := s.drain(); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, s *Store, key []byte) {
	t.Helper()
	settle(t, s)
	if err := s.db.Update(func(txn *badger.Txn) error { return txn.Delete(key) }); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedRunningTaskDoesNotKeepTheOthersFromRunning(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	hurt := create(t, s, Task{Request: []byte("q")}).ID
	sound := create(t, s, Task{Request: []byte("q")}).ID
	remove(t, s, requestKey(hurt))
	shut(t, s)
	s = open(t, dir, nil)
	if got := s.Running(); len(got) != 1 || got[0].ID != sound {
		t.Errorf("%+v", got)
	}
	var damaged *DamagedError
	if _, err := s.Get(hurt); !errors.As(err, &damaged) || damaged.ID != hurt {
		t.Errorf("%v", err)
	}
}

func TestDamagedIndexEntryIsDroppedAndDeletesNoTask(t *testing.T) {
	s := open(t, t.TempDir(), &Options{SweepEvery: time.Hour})
	id := create(t, s, Task{}).ID
	complete(t, s, id, []byte("x"))
	settle(t, s)
	key := expiryKey(time.Unix(1, 0), id) // of a time long past, with the value of another key
	err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(key, seal([]byte("x/"), expiryEntry(Task{ID: id}, 1))) })
	if err != nil {
		t.Fatal(err)
	}
	s.sweep()
	get(t, s, id)
	if n := countKeys(t, s); n != 4 {
		t.Errorf("%d keys, want 4", n)
	}
}

func TestStoreThatCannotBeTrustedIsNotOpened(t *testing.T) {
	for name, c := range map[string]struct {
		hurt func(t *testing.T, dir string)
		want string
	}{
		"manifest deleted": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, manifestFile)); err != nil {
				t.Fatal(err)
			}
		}, "MANIFEST"},
		"table cut short": {func(t *testing.T, dir string) {
			tables, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
			if err := os.Truncate(tables[0], 10); err != nil {
				t.Fatal(err)
			}
		}, "cut short"},
		"later format":     {func(t *testing.T, dir string) { setFormat(t, dir, []byte("3")) }, `format "3"`},
		"no format record": {func(t *testing.T, dir string) { setFormat(t, dir, nil) }, "no format record"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _, _ := twoTasks(t)
			c.hurt(t, dir)
			s, err := Open(context.Background(), dir, nil)
			if err == nil {
				s.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%v", err)
			}
		})
	}
}

func setFormat(t *testing.T, dir string, version []byte) {
	s := open(t, dir, nil)
	err := s.db.Update(func(txn *badger.Txn) error {
		if version == nil {
			return txn.Delete(formatKey)
		}
		return txn.Set(formatKey, seal(formatKey, version))
	})
	if err != nil {
		t.Fatal(err)
	}
	shut(t, s)
}

func TestFileLeftEmptyByAKillDuringOpenIsNoObstacle(t *testing.T) {
	dir, id, _ := twoTasks(t)
	if err := os.WriteFile(filepath.Join(dir, "00009.mem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	get(t, open(t, dir, nil), id)
}
