package taskstate

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"
)

// goldenRecords calls add with every key of the golden stores and what lies there.
func goldenRecords(f *testing.F, add func(key, rec []byte)) {
	f.Helper()
	stores, _ := filepath.Glob("testdata/format-*/*.tar.gz")
	if len(stores) == 0 {
		f.Fatal("no golden stores")
	}
	for _, path := range stores {
		s := open(f, unpack(f, path), nil)
		err := s.view(func(txn *badger.Txn) error {
			it := txn.NewIterator(badger.IteratorOptions{})
			defer it.Close()
			for it.Rewind(); it.Valid(); it.Next() {
				rec, err := it.Item().ValueCopy(nil)
				if err != nil {
					return err
				}
				add(it.Item().KeyCopy(nil), rec)
			}
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
		shut(f, s)
	}
}

// What checks is, to the byte, what was written under that key.
func FuzzRecord(f *testing.F) {
	goldenRecords(f, func(key, rec []byte) { f.Add(key, rec) })
	f.Add([]byte("o/A"), []byte{})
	f.Fuzz(func(t *testing.T, key, rec []byte) {
		if len(key) >= 1<<16 {
			return // Badger takes none
		}
		if body, err := unseal(key, rec); err == nil && !bytes.Equal(seal(key, body), rec) {
			t.Fatalf("%x was never written under %x", rec, key)
		}
		got, err := unseal(key, seal(key, rec))
		if err != nil || !bytes.Equal(got, rec) {
			t.Fatalf("round trip: %x, %v", got, err)
		}
	})
}

// A body that is taken for a header says the same once it is written anew.
func FuzzHeader(f *testing.F) {
	goldenRecords(f, func(key, rec []byte) {
		if body, err := unseal(key, rec); err == nil && bytes.HasPrefix(key, []byte(headerPrefix)) {
			f.Add(body)
			f.Add(body[:len(body)/2])
		}
	})
	f.Add(headerOf(Task{Owner: "o", Status: InputRequired, Progress: []byte("1"), TTL: 1, Remote: []byte{}, IsError: true}).encode())
	f.Fuzz(func(t *testing.T, body []byte) {
		h, err := decodeHeader(body)
		if err != nil {
			return
		}
		again, err := decodeHeader(h.encode())
		if diff := cmp.Diff(h, again, cmp.AllowUnexported(header{})); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}

// The same for the keys of the two indexes, and the places in a list that a
// stranger sends back.
func FuzzIndexKey(f *testing.F) {
	goldenRecords(f, func(key, _ []byte) {
		f.Add(key, "alice")
		if len(key) > len(listPrefix)+ownerHash {
			f.Add([]byte(newCursor("alice", key[len(listPrefix)+ownerHash:])), "alice")
		}
	})
	f.Fuzz(func(t *testing.T, key []byte, owner string) {
		if at, id, ok := splitExpiryKey(key); ok && bytes.HasPrefix(key, []byte(expiryPrefix)) && !bytes.Equal(expiryKey(at, id), key) {
			t.Fatalf("%x became %v of %s", key, at, id)
		}
		position, err := parseCursor(owner, string(key))
		if err == nil && len(key) > 0 && newCursor(owner, position) != string(key) {
			t.Fatalf("cursor %q leads to %x", key, position)
		}
	})
}

// The journal gives what was written, in order, whatever lies behind it, and
// nothing that was not.
func FuzzJournal(f *testing.F) {
	dir := f.TempDir()
	j, err := openJournal(dir)
	if err != nil || j.clear() != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { j.close() })
	f.Add([]byte{}, uint64(1))
	f.Add((change{[]byte("t/A"), []byte("x")}).append(nil), uint64(7))
	f.Add(append(make([]byte, 8), 0, 0, 0, 0, 0, 0, 0, 9), uint64(8))
	f.Fuzz(func(t *testing.T, b []byte, number uint64) {
		j.end = 0
		want := []change{{key: append([]byte("k"), b...), value: []byte("v")}, {key: []byte("gone")}}
		if changes, err := parseChanges(b); err == nil && len(changes) > 0 {
			want = changes
		}
		if err := j.append(number, want); err != nil {
			t.Fatal(err)
		}
		if _, err := j.file.WriteAt(b, j.end); err != nil { // what a former lap left
			t.Fatal(err)
		}
		n := 0
		err := j.read(func(got uint64, changes []change) error {
			if diff := cmp.Diff(want, changes, cmp.AllowUnexported(change{})); n == 0 && (got != number || diff != "") {
				t.Errorf("%d, want %d: %s", got, number, diff)
			}
			n++
			return nil
		})
		if err != nil || n != 1 {
			t.Fatalf("%d entries, %v", n, err)
		}
		if err := j.file.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if _, err := j.file.WriteAt(b, 0); err != nil {
			t.Fatal(err)
		}
		if err := j.read(func(uint64, []change) error { n++; return nil }); err != nil || n != 1 {
			t.Fatalf("%d entries in %x, %v", n-1, b, err)
		}
	})
}

// Of the tally only what was written is believed, and not a byte else.
func FuzzTally(f *testing.F) {
	f.Add(tally{}.encode())
	f.Add(tally{changes: 1<<64 - 1, manifest: 1 << 40, suspect: true}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := parseTally(b); err == nil && !bytes.Equal(got.encode(), b) {
			t.Fatalf("%q was taken for %+v", b, got)
		}
	})
}
