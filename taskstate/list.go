package taskstate

import (
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/dgraph-io/badger/v4"
)

const (
	// maxPage and maxPageBytes bound one page of a list.
	maxPage      = 1000
	maxPageBytes = 4 << 20
	// listChunk is how many positions are read at once.
	listChunk = 100
)

// List returns up to limit tasks of owner (1 to 1000; others are brought into
// that range), running and finished, latest first, from where cursor points: ""
// is the beginning, else the next of the page before. next is "" on the last
// page. A page may be shorter than limit and not the last, where texts are long.
// Every task of the owner that Get would find is in the list, but without
// Request, Inputs and Outcome; one that is created meanwhile neither hides nor
// repeats another. Errors: ErrBadCursor, ErrClosed.
func (s *Store) List(owner, cursor string, limit int) (tasks []Task, next string, err error) {
	after, err := parseCursor(owner, cursor)
	if err != nil {
		return nil, "", err
	}
	if err := s.drain(); err != nil {
		s.log.Warn().Err(err).Msg("task store: a list may lack what was stored a moment ago")
	}
	p := page{owner: owner, limit: min(max(limit, 1), maxPage)}
	for {
		positions, err := s.positions(owner, after, listChunk)
		if err != nil {
			return nil, "", err
		}
		for _, at := range positions {
			t, found, err := s.listed(owner, at)
			if err != nil {
				return nil, "", err
			}
			if found && !p.add(t) {
				return p.tasks, p.cursor(), nil
			}
		}
		if len(positions) < listChunk {
			return p.tasks, "", nil
		}
		after = positions[listChunk-1]
	}
}

// page is one page in the making.
type page struct {
	owner string
	limit int
	tasks []Task
	size  int
}

// add takes t unless the page is full. One task always fits.
func (p *page) add(t Task) bool {
	p.size += len(t.Owner) + len(t.Upstream) + len(t.Tool) + len(t.StatusMessage) + len(t.Progress) + len(t.Remote)
	if n := len(p.tasks); n == p.limit || n > 0 && p.size > maxPageBytes {
		return false
	}
	p.tasks = append(p.tasks, t)
	return true
}

func (p *page) cursor() string {
	return newCursor(p.owner, listPosition(p.tasks[len(p.tasks)-1]))
}

// positions returns up to n positions of owner's list behind one of them, or
// from its beginning.
func (s *Store) positions(owner string, after []byte, n int) (found [][]byte, err error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.down != nil {
		return nil, s.down
	}
	list := listKey(owner, nil)
	err = s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: list})
		defer it.Close()
		for it.Seek(listKey(owner, after)); it.Valid() && len(found) < n; it.Next() {
			if p := it.Item().KeyCopy(nil)[len(list):]; string(p) != string(after) {
				found = append(found, p)
			}
		}
		return nil
	})
	return found, err
}

// listed returns the task at a position, if there still is one. What is in memory
// is looked up first: a task that ends afterwards is on disk by then.
func (s *Store) listed(owner string, position []byte) (t Task, found bool, err error) {
	id, ok := positionID(position)
	if !ok {
		return Task{}, false, nil
	}
	if t, found, err = s.getLive(id); err == nil && !found {
		t, err = s.getStored(id, s.readSummary)
	}
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		s.log.Warn().Err(err).Msg("task store: a task is left out of a list")
	}
	if damaged != nil || errors.Is(err, ErrNotFound) {
		return Task{}, false, nil
	}
	t.Request, t.Inputs, t.Outcome = nil, nil, nil
	return t, err == nil && t.Owner == owner, err
}

// readSummary reads a task that is not in memory without its payloads. One that
// runs is still being made, or its making failed.
func (s *Store) readSummary(txn *badger.Txn, id string) (Task, error) {
	h, err := readHeader(txn, id)
	if err == nil && (!h.task.Status.Terminal() || h.task.expired(s.now())) {
		err = ErrNotFound
	}
	return h.task, err
}

// readAny reads the header of a task, whatever the clock says of it.
func readAny(txn *badger.Txn, id string) (Task, error) {
	h, err := readHeader(txn, id)
	return h.task, err
}

// A cursor is the position of the last task of a page and a checksum that also
// covers the owner. It guards against mistakes: a forged one points into the
// owner's own list all the same.
func newCursor(owner string, position []byte) string {
	c := binary.BigEndian.AppendUint32(position, checksum(listKey(owner, nil), position))
	return base64.RawURLEncoding.EncodeToString(c)
}

// maxCursor is above the length of the longest cursor.
const maxCursor = 2 * (8 + maxNode + 1 + idLen + 4)

func parseCursor(owner, cursor string) (position []byte, err error) {
	if cursor == "" {
		return nil, nil
	}
	c, err := base64.RawURLEncoding.Strict().DecodeString(cursor[:min(len(cursor), maxCursor)])
	if err != nil || len(c) < 4 {
		return nil, ErrBadCursor
	}
	position = c[:len(c)-4]
	if binary.BigEndian.Uint32(c[len(position):]) != checksum(listKey(owner, nil), position) {
		return nil, ErrBadCursor
	}
	if _, ok := positionID(position); !ok || newCursor(owner, position) != cursor { // decoding passes over line ends
		return nil, ErrBadCursor
	}
	return position, nil
}
