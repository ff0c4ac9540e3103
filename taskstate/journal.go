package taskstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// journalFile is where a change is durable first.
	journalFile = "JOURNAL"
	// journalLap is the size in bytes from which the journal is written from its
	// beginning again. What a killed process leaves in it is given to Badger at the next
	// start, which takes some 50 ms for each megabyte.
	journalLap = 4 << 20
	// journalAhead is by how much the file grows: a sync that finds the place for
	// the data already there need not wait for the file system's own log.
	journalAhead = 256 << 10
	// maxEntry bounds what a damaged length can make us read.
	maxEntry = 2*batchBytes + 64<<20
)

// journal is a log in front of Badger. A change is acknowledged as soon as it is
// here, for one sync of one file that all who wait share; Badger, which syncs two
// files page by page for each transaction, gets it a little later (apply.go). An
// entry carries the number of its change, and Badger knows the number of the last
// that it has (m/changes), so that after a crash exactly the rest is taken from
// here. Once Badger has all, the file is written from the beginning again; what is
// left of a former lap has numbers that do not follow, and is passed over.
type journal struct {
	file *os.File
	path string
	own  fs.FileInfo
	// epoch goes into the sum of each entry. Each opening of a store has one of its
	// own, so that entries of another store, or of a copy that went on by itself,
	// count for nothing here.
	epoch uint32
	end   int64
	size  int64 // of the file, as far as it was written since it was opened
	buf   []byte
	// dirty: what the disk has of the file is not known. A sync has failed, and the
	// next may succeed without having written what that one did not: the system takes
	// it for written. Or the file was just opened, and a former process may have met
	// with that.
	dirty bool
}

var errDirty = errors.New("the journal has failed, and was not emptied since")

// entryHead: four bytes of length, four of CRC32C over all that follows it, eight
// of the number of the change.
const entryHead = 4 + 4 + 8

func openJournal(dir string) (*journal, error) {
	path := filepath.Join(dir, journalFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("task store: %w", err)
	}
	own, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("task store: %w", err), f.Close())
	}
	return &journal{file: f, path: path, own: own, dirty: true}, syncDir(dir)
}

// inPlace fails if the file no longer lies at its path: what is written to it then
// nobody will ever find.
func (j *journal) inPlace() error { return inPlace(j.path, j.own) }

// append makes an entry durable. After an error it may be on disk or not, and no
// other is taken before clear has succeeded: it would lie behind a hole.
func (j *journal) append(number uint64, changes []change) error {
	b := binary.BigEndian.AppendUint64(append(j.buf[:0], make([]byte, 8)...), number)
	for _, c := range changes {
		b = c.append(b)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-entryHead))
	binary.BigEndian.PutUint32(b[4:], crc32.Update(j.epoch, castagnoli, b[8:]))
	if j.buf = b; cap(b) > 1<<20 {
		j.buf = nil
	}
	if j.dirty {
		return errDirty
	}
	if err := j.write(b); err != nil {
		j.dirty = true
		return err
	}
	j.end += int64(len(b))
	return nil
}

func (j *journal) write(b []byte) error {
	if err := j.reserve(int64(len(b))); err != nil {
		return err
	}
	if _, err := j.file.WriteAt(b, j.end); err != nil {
		return err
	}
	return syncData(j.file)
}

// reserve makes the file longer ahead of what is to be written.
func (j *journal) reserve(n int64) error {
	if j.end+n <= j.size {
		return nil
	}
	if j.size = j.end + n; n > journalAhead {
		return nil // the entry itself makes it longer
	}
	j.size += journalAhead
	for at := j.end; at < j.size; {
		page := zeros[:min(pageSize-at%pageSize, j.size-at)]
		if _, err := j.file.WriteAt(page, at); err != nil {
			return err
		}
		at += int64(len(page))
	}
	return nil
}

// pageSize is that of most systems. File systems that keep what they were given in one
// piece together (large folios of Linux) count all of it as written whenever a part of
// it is synced.
const pageSize = 4 << 10

var zeros = make([]byte, pageSize)

// clear empties the file, durably. After an error that is to be done again: an empty
// file may be as long as before once the power has failed. To truncate it again has
// the sync write its length again.
func (j *journal) clear() error {
	j.end, j.size = 0, 0
	if info, err := j.file.Stat(); !j.dirty && err == nil && info.Size() == 0 {
		return nil
	}
	j.dirty = true
	if err := errors.Join(j.file.Truncate(0), j.file.Sync()); err != nil {
		return err
	}
	j.dirty = false
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// read calls take with each entry that follows the one before, and ends at the
// first that does not, or is not whole. What take gets is its own.
func (j *journal) read(take func(number uint64, changes []change) error) error {
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	var last uint64
	for at := int64(0); ; {
		number, body, err := j.entry(at, info.Size())
		if err != nil || at > 0 && number != last+1 {
			return ignoreEnd(err)
		}
		changes, err := parseChanges(body)
		if err != nil {
			return ignoreEnd(err)
		}
		if err := take(number, changes); err != nil {
			return err
		}
		last, at = number, at+entryHead+int64(len(body))
	}
}

// extent is what can be read of a journal: the numbers of the first and the last
// entry, 0 where there is none, and how much of the disk they take in Badger.
type extent struct{ first, last, room uint64 }

func (j *journal) extent() (x extent, err error) {
	err = j.read(func(number uint64, changes []change) error {
		if x.first == 0 {
			x.first = number
		}
		x.last = number
		x.room += diskFor(changes)
		return nil
	})
	return x, err
}

// ignoreEnd: the end of the journal looks like a damaged entry. Whether something
// is missing the tally tells.
func ignoreEnd(err error) error {
	if errors.Is(err, errBadRecord) {
		return nil
	}
	return err
}

func (j *journal) entry(at, size int64) (number uint64, body []byte, err error) {
	var head [entryHead]byte
	if _, err := j.file.ReadAt(head[:], at); err == io.EOF {
		return 0, nil, errBadRecord
	} else if err != nil {
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > maxEntry || at+entryHead+n > size {
		return 0, nil, errBadRecord
	}
	body = make([]byte, n)
	if _, err := j.file.ReadAt(body, at+entryHead); err != nil {
		return 0, nil, err
	}
	sum := crc32.Update(crc32.Update(j.epoch, castagnoli, head[8:]), castagnoli, body)
	if sum != binary.BigEndian.Uint32(head[4:]) {
		return 0, nil, errBadRecord
	}
	return binary.BigEndian.Uint64(head[8:]), body, nil
}
