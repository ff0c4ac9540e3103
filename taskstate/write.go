package taskstate

import (
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// change is one key that is set, or deleted if value is nil: a sealed value is
// never empty.
type change struct{ key, value []byte }

// writer collects changes.
type writer struct{ changes []change }

func (w *writer) set(key, body []byte) {
	w.changes = append(w.changes, change{key, seal(key, body)})
}

func (w *writer) setPayload(key, body []byte) {
	if body != nil {
		w.set(key, body)
	}
}

func (w *writer) delete(key []byte) { w.changes = append(w.changes, change{key: key}) }

// sizeOf is what changes add to a transaction, which must not become too large.
func sizeOf(changes []change) (n int64) {
	for _, c := range changes {
		n += int64(len(c.key) + len(c.value))
	}
	return n
}

// into puts the changes into a transaction.
func (w *writer) into(txn *badger.Txn) error {
	for _, c := range w.changes {
		if err := c.into(txn); err != nil {
			return err
		}
	}
	return nil
}

func (c change) into(txn *badger.Txn) error {
	if c.value == nil {
		return txn.Delete(c.key)
	}
	return txn.Set(c.key, c.value)
}

// append writes the change behind b, for parseChanges.
func (c change) append(b []byte) []byte {
	for _, field := range [][]byte{c.key, c.value} {
		b = append(binary.AppendUvarint(b, uint64(len(field))), field...)
	}
	return b
}

// parseChanges reads what append wrote. The result shares memory with b.
func parseChanges(b []byte) (changes []change, err error) {
	for r := (reader{rest: b}); len(r.rest) > 0; {
		c := change{key: r.text(), value: r.text()}
		if r.bad || len(c.key) == 0 {
			return nil, fmt.Errorf("%w: not a list of changes", errBadRecord)
		}
		if len(c.value) == 0 {
			c.value = nil
		}
		changes = append(changes, c)
	}
	return changes, nil
}
