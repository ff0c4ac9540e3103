package taskstate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

func TestStoreOfTheFormerFormatOpensWithAllItHeld(t *testing.T) {
	for name, secret := range goldenSecrets {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, "testdata/format-1/"+name+".tar.gz")
			for range 2 {
				s := open(t, dir, nil)
				checkGolden(t, s)
				if got := hex.EncodeToString(s.Secret()); got != secret {
					t.Errorf("secret %s", got)
				}
				shut(t, s)
			}
		})
	}
}

func TestUpgradedStoreIsRefusedByTheFormerVersion(t *testing.T) {
	dir := unpack(t, "testdata/format-1/closed.tar.gz")
	s := open(t, dir, nil)
	var version []byte
	err := s.view(func(txn *badger.Txn) (err error) {
		version, err = read(txn, formatKey)
		return err
	})
	if err != nil || string(version) != "2" {
		t.Errorf("format %q, %v", version, err)
	}
}

func TestUpgradedTasksEndAndExpireLikeOthers(t *testing.T) {
	dir := unpack(t, "testdata/format-1/closed.tar.gz")
	s := open(t, dir, &Options{SweepEvery: time.Hour})
	for _, task := range s.Running() {
		complete(t, s, task.ID, nil)
	}
	o := newOp(opExpire, "")
	o.until = time.Now().Add(2 * maxTTL)
	if err := s.submit(o); err != nil || len(o.gone) != len(golden) {
		t.Fatalf("%d have expired, %v", len(o.gone), err)
	}
	if n := countKeys(t, s); n != 0 {
		t.Errorf("%d keys are left, want none", n)
	}
}

// formatOne leaves a closed store as format 1 would have it, with n tasks of one
// owner; every second has ended.
func formatOne(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir, nil)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			task, err := s.Create(context.Background(), Task{Owner: "me", Tool: fmt.Sprint(i), TTL: time.Hour})
			if err == nil && i%2 == 0 {
				_, err = s.Finish(context.Background(), task.ID, Outcome{Status: Completed, Payload: []byte("x")})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, prefix := range []string{listPrefix, headerPrefix, expiryPrefix} {
		rewrite(t, s, prefix)
	}
	shut(t, s)
	setFormat(t, dir, []byte(formatBefore))
	return dir
}

// rewrite takes what format 2 added out of all entries under a prefix.
func rewrite(t *testing.T, s *Store, prefix string) {
	t.Helper()
	err := s.db.Update(func(txn *badger.Txn) error {
		var w writer
		for key, body := range entries(t, s, prefix) {
			switch prefix {
			case listPrefix:
				w.delete([]byte(key))
			case headerPrefix:
				w.set([]byte(key), body[:len(body)-2]) // no Remote, no IsError
			default:
				w.set([]byte(key), body[:8])
			}
		}
		return w.into(txn)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func entries(t *testing.T, s *Store, prefix string) map[string][]byte {
	t.Helper()
	settle(t, s)
	found := make(map[string][]byte)
	err := s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(prefix)})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().KeyCopy(nil)
			body, err := read(txn, key)
			if err != nil {
				return err
			}
			found[string(key)] = body
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The disk is full at ever later points of the upgrade, which must be taken up
// where it was left, and be done by the last.
func TestInterruptedUpgradeIsTakenUpAgain(t *testing.T) {
	const n = 2*reindexChunk + 1
	dir := formatOne(t, n)
	for asked := 2; ; asked++ {
		s, err := Open(context.Background(), dir, &Options{FreeSpace: roomFor(asked), SweepEvery: time.Hour})
		if err == nil {
			if asked != 5 { // before Badger opens, and for each chunk
				t.Errorf("done after %d questions for space", asked)
			}
			shut(t, s)
			break
		}
		if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), dir) || asked > 10 {
			t.Fatal(err)
		}
	}
	s := open(t, dir, nil)
	if got := listAll(t, s, "me", 100); len(got) != n {
		t.Errorf("%d tasks are listed, want %d", len(got), n)
	}
	if got := len(s.Running()); got != n/2 {
		t.Errorf("%d tasks run, want %d", got, n/2)
	}
	if got := entries(t, s, string(unlistedKey)); len(got) != 0 {
		t.Error("the mark is still there")
	}
	for key, body := range entries(t, s, expiryPrefix) {
		if len(body) <= 8 {
			t.Errorf("%x does not say where its task is listed", key)
		}
	}
}

// roomFor is a disk that is full from the nth question on.
func roomFor(n int) func(string) (uint64, error) {
	return func(string) (uint64, error) {
		if n--; n <= 0 {
			return 30 << 20, nil
		}
		return 10 << 30, nil
	}
}

func TestUpgradePassesOverATaskThatCannotBeRead(t *testing.T) {
	dir := formatOne(t, 3)
	s := newStore(dir, (*Options)(nil).withDefaults())
	var err error
	if s.db, err = openOnce(dir, s.badgerLog); err != nil {
		t.Fatal(err)
	}
	var hurt string
	for key := range entries(t, s, expiryPrefix) {
		_, hurt, _ = splitExpiryKey([]byte(key))
	}
	if err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(headerKey(hurt), []byte("junk")) }); err != nil {
		t.Fatal(err)
	}
	if err := s.closeDB(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, nil)
	if got := listAll(t, s, "me", 100); len(got) != 2 {
		t.Errorf("%d tasks are listed, want 2", len(got))
	}
	var damaged *DamagedError
	if _, err := s.Get(hurt); !errors.As(err, &damaged) {
		t.Errorf("%v", err)
	}
}
