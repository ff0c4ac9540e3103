package taskstate

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// Usage tells how many tasks are stored, those included whose retention is over
// and that are not deleted yet, and how many bytes of disk the store uses, as of
// about a second ago.
func (s *Store) Usage() (tasks int, bytes int64) {
	return int(s.stored.Load()), s.meter.now()
}

// meterEvery is how old the size of the files may be.
const meterEvery = time.Second

// meter knows about how much disk the store uses: the size of its files, looked
// up once a second at most, and what was written since.
type meter struct {
	dir string

	mu     sync.Mutex // guards what follows; held while the files are looked up
	looked time.Time
	size   int64 // of the files
	since  int64 // written after that
}

func (m *meter) now() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looked.IsZero() || time.Since(m.looked) >= meterEvery {
		m.size, m.since, m.looked = diskUsage(m.dir), 0, time.Now()
	}
	return m.size + m.since
}

func (m *meter) wrote(ops []*op) {
	var n int64
	for _, o := range ops {
		n += o.size()
	}
	m.add(n)
}

func (m *meter) add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since += n
}

// diskUsage adds up the files of the store. A file that goes meanwhile is none.
func diskUsage(dir string) (total int64) {
	names, _ := storeFiles(dir)
	spilled, _ := os.ReadDir(filepath.Join(dir, spillDir))
	for _, e := range spilled {
		names = append(names, filepath.Join(spillDir, e.Name()))
	}
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			total += allocated(info)
		}
	}
	return total
}

// loadCount reads how many tasks there are, or counts them where the number was
// not written by the last change (it was a former version's), or there was a loss.
func (s *Store) loadCount() error {
	var body []byte
	err := s.view(func(txn *badger.Txn) (err error) {
		body, err = read(txn, storedKey)
		return err
	})
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		s.log.Error().Err(err).Msg("task store: the number of tasks is damaged and is counted anew")
	}
	s.checkClock(body)
	if err == nil && s.loss == nil && len(body) == countLen && binary.BigEndian.Uint64(body) == s.changes {
		s.stored.Store(int64(binary.BigEndian.Uint64(body[8:16])))
		return nil
	}
	return s.count()
}

func (s *Store) count() error {
	return s.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(headerPrefix)})
		defer it.Close()
		var n int64
		for it.Rewind(); it.Valid(); it.Next() {
			n++
		}
		s.stored.Store(n)
		return nil
	})
}

// countLen is the length of the record under m/stored.
const countLen = 3 * 8

// putCount writes the number of tasks beside the change that it was right after,
// and the time.
func (w *writer) putCount(changes uint64, n int64, now time.Time) {
	var body []byte
	for _, v := range []uint64{changes, uint64(max(n, 0)), uint64(now.UnixNano())} {
		body = binary.BigEndian.AppendUint64(body, v)
	}
	w.set(storedKey, body)
}
