package taskstate

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// Get returns the task as it stands: a running one from memory, a finished one
// with its outcome from disk. An unknown or expired one is ErrNotFound; one that
// cannot be read any more is *DamagedError.
func (s *Store) Get(id string) (Task, error) {
	if t, found, err := s.getLive(id); found || err != nil {
		return t, err
	}
	if !s.issued(id) {
		return Task{}, ErrNotFound
	}
	return s.getStored(id, s.readEnded)
}

// InMemory reports whether [Store.Get] need not read from disk, where it may have to
// wait for what is being written.
func (s *Store) InMemory(id string) bool {
	_, found, err := s.getLive(id)
	return found || err != nil
}

func (s *Store) getLive(id string) (Task, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findLive(id)
}

// findLive is getLive with s.mu held.
func (s *Store) findLive(id string) (Task, bool, error) {
	if s.closed {
		return Task{}, false, ErrClosed
	}
	e, ok := s.live[id]
	if !ok {
		return Task{}, false, nil
	}
	if e.task.expired(s.now()) {
		return Task{}, false, ErrNotFound
	}
	return e.task, true, nil
}

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

// readTask reads a task in one of two ways, readTask or readSummary.
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
	t := h.task
	if t.Request, err = readPayload(txn, requestKey(id), h.request); err != nil {
		return Task{}, fmt.Errorf("request: %w", err)
	}
	if t.Outcome, err = readPayload(txn, outcomeKey(id), h.outcome); err != nil {
		return Task{}, fmt.Errorf("outcome: %w", err)
	}
	return t, nil
}

// readEnded reads a task that is not in memory. One that runs always is.
func (s *Store) readEnded(txn *badger.Txn, id string) (Task, error) {
	t, err := readTask(txn, id)
	if t.expired(s.now()) {
		return Task{}, ErrNotFound
	}
	if err == nil && !t.Status.Terminal() {
		err = errors.New("it has not ended, but is missing among those that run")
	}
	return t, err
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
