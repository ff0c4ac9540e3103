package taskstate

import (
	"bytes"
	"errors"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

func TestSecretIsTheSameAfterEveryOpenAndNoOtherStoreHasIt(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	want := s.Secret()
	if len(want) != secretLen {
		t.Fatalf("%d bytes", len(want))
	}
	clear(s.Secret()) // the caller's own copy
	for range 2 {
		if !bytes.Equal(s.Secret(), want) {
			t.Error("it has changed")
		}
		shut(t, s)
		s = open(t, dir, nil)
	}
	if other := open(t, t.TempDir(), nil).Secret(); bytes.Equal(other, want) {
		t.Error("two stores share it")
	}
}

func TestSecretThatIsMissingOrDamagedKeepsNoTaskBack(t *testing.T) {
	for name, hurt := range map[string]func(*badger.Txn) error{
		"store from before": func(txn *badger.Txn) error { return txn.Delete(secretKey) },
		"foreign bytes":     func(txn *badger.Txn) error { return txn.Set(secretKey, bytes.Repeat([]byte("x"), secretLen)) },
		"too short":         func(txn *badger.Txn) error { return txn.Set(secretKey, seal(secretKey, []byte("x"))) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, nil)
			id, old := create(t, s, Task{}).ID, s.Secret()
			ended := create(t, s, Task{}).ID
			complete(t, s, ended, []byte("{}"))
			if err := s.db.Update(hurt); err != nil {
				t.Fatal(err)
			}
			shut(t, s)
			s = open(t, dir, nil)
			get(t, s, id)
			get(t, s, ended)
			get(t, s, create(t, s, Task{}).ID)
			made := s.Secret()
			if len(made) != secretLen || bytes.Equal(made, old) || bytes.Equal(made, make([]byte, secretLen)) {
				t.Errorf("%x after %x", made, old)
			}
			shut(t, s)
			if got := open(t, dir, nil).Secret(); !bytes.Equal(got, made) {
				t.Error("the new one is not kept")
			}
		})
	}
}

// Whatever comes after the format record may be missing after a first start that was
// killed. To the next one the store is not new.
func TestFirstStartThatIsKilledLeavesAStoreWithTaggedIDsAndNoOthersJournal(t *testing.T) {
	dir := t.TempDir()
	carry(t, killedStore(t, 10), dir, journalFile)
	o := (*Options)(nil).withDefaults()
	s := newStore(dir, o)
	var err error
	if s.db, err = openBadger(t.Context(), dir, s.badgerLog, 0); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.checkFormat(), s.db.Close(), s.abandon()); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, nil)
	if !s.tagged {
		t.Error("its ids have no tags")
	}
	if n, _ := s.Usage(); n != 0 || s.Loss() != nil {
		t.Errorf("%d tasks of another store, %v", n, s.Loss())
	}
}
