package taskstate

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// getStored reads up to three times: a value that the garbage collection moves
// while it is read comes back empty, as a damaged one does.
func (s *Store) getStored(id string, how func(*badger.Txn, string) (Task, error)) (t Task, err error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.down != nil {
		return Task{}, s.down
	}
	for range 3 {
		t, err = s.readTask(id, how)
		var damaged *DamagedError
		if !errors.As(err, &damaged) {
			break
		}
	}
	return t, err
}

// readTask reads a task in one of several ways.
func (s *Store) readTask(id string, how func(*badger.Txn, string) (Task, error)) (t Task, err error) {
	err = s.view(func(txn *badger.Txn) (err error) {
		t, err = how(txn, id)
		return err
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Task{}, &DamagedError{Dir: s.dir, ID: id, Why: err.Error()}
	}
	return t, err
}

// readTask puts a task together from its records.
func readTask(txn *badger.Txn, id string) (Task, error) {
	h, err := readHeader(txn, id)
	if err != nil {
		return Task{}, err
	}
	return h.whole(txn)
}

// whole reads what the header leaves out.
func (h header) whole(txn *badger.Txn) (t Task, err error) {
	t = h.task
	if t.Request, err = readPayload(txn, requestKey(t.ID), h.request); err != nil {
		return Task{}, fmt.Errorf("request: %w", err)
	}
	if t.Outcome, err = readPayload(txn, outcomeKey(t.ID), h.outcome); err != nil {
		return Task{}, fmt.Errorf("outcome: %w", err)
	}
	return t, nil
}

// endedIf reads a task that is not in memory, if it may be seen. One that runs always
// is in memory.
func (s *Store) endedIf(may func(owner string) bool) func(*badger.Txn, string) (Task, error) {
	return func(txn *badger.Txn, id string) (Task, error) {
		h, err := readHeader(txn, id)
		switch {
		case err != nil:
			return Task{}, err
		case h.task.expired(s.now()), !may(h.task.Owner):
			return Task{}, ErrNotFound
		case !h.task.Status.Terminal():
			return Task{}, errors.New("it has not ended, but is missing among those that run")
		}
		return h.whole(txn)
	}
}

func readHeader(txn *badger.Txn, id string) (header, error) {
	body, err := read(txn, headerKey(id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return header{}, absent(txn, id)
	}
	if err != nil {
		return header{}, fmt.Errorf("header: %w", err)
	}
	h, err := decodeHeader(body)
	h.task.ID = id
	return h, err
}

// absent tells a task that is not there from one whose header was lost: Badger
// reports an unreadable key as not found.
func absent(txn *badger.Txn, id string) error {
	for _, key := range [][]byte{runningKey(id), outcomeKey(id)} {
		if _, err := txn.Get(key); !errors.Is(err, badger.ErrKeyNotFound) {
			return errors.New("its header is missing")
		}
	}
	return ErrNotFound
}

func readPayload(txn *badger.Txn, key []byte, want int64) ([]byte, error) {
	if want < 0 {
		return nil, nil
	}
	body, err := read(txn, key)
	if err != nil {
		return nil, err
	}
	if int64(len(body)) != want {
		return nil, fmt.Errorf("%w: %d bytes where %d were written", errBadRecord, len(body), want)
	}
	return body, nil
}

// read returns the checked body of the record under key, or Badger's
// ErrKeyNotFound.
func read(txn *badger.Txn, key []byte) ([]byte, error) {
	item, err := txn.Get(key)
	if err != nil {
		return nil, err
	}
	rec, err := item.ValueCopy(nil)
	if err != nil {
		return nil, err
	}
	return unseal(key, rec)
}

// view runs fn in a read transaction. Badger panics over some damaged bytes, and
// where its memory map ends before the file should, or the disk cannot read it,
// the system sends a signal that would end the process.
func (s *Store) view(fn func(*badger.Txn) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: reading panicked: %s", errBadRecord, brief(p))
		}
	}()
	return s.db.View(fn)
}

// brief keeps Badger's panics, which can hold whole tables, to one line.
func brief(p any) string {
	line := strings.Join(strings.Fields(fmt.Sprint(p)), " ")
	return line[:min(len(line), 300)]
}
