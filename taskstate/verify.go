package taskstate

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4/fb"
)

// verifyTables looks for damage in the tables. Badger checks a block of one
// neither when it opens nor when it reads: a key that is gone would be a task
// unknown, or bring an earlier version of it back to light, as it stood before its
// request was sent. So this is done before anything is believed, for all tables.
// Badger's own VerifyChecksum reads through the memory map, page by page, and
// takes several times as long.
func (s *Store) verifyTables() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("a table is damaged: " + brief(p))
		}
	}()
	done := make(map[uint64]bool)
	for missed := true; missed; {
		if missed, err = s.verifySome(done); err != nil {
			return err
		}
	}
	return nil
}

// verifySome verifies the tables that there are. Those that it missed, Badger has
// merged into others meanwhile.
func (s *Store) verifySome(done map[uint64]bool) (missed bool, err error) {
	for _, t := range s.db.Tables() {
		if done[t.ID] {
			continue
		}
		name := fmt.Sprintf("%06d.sst", t.ID)
		err := verifyFile(filepath.Join(s.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			missed = true
			continue
		}
		if err != nil {
			return false, fmt.Errorf("table %s is damaged: %w", name, err)
		}
		done[t.ID] = true
	}
	return missed, nil
}

// verifyFile checks the index of a table, which is at its end, and the blocks that
// it names, which are all that is before it. Both end with a checksum and its
// length; that of the index is behind its length.
func verifyFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	index, err := readIndex(f)
	if err != nil {
		return err
	}
	return verifyBlocks(bufio.NewReaderSize(f, 128<<10), fb.GetRootAsTableIndex(index, 0))
}

func readIndex(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	sum, at, err := tailBefore(f, info.Size())
	if err != nil {
		return nil, err
	}
	index, _, err := tailBefore(f, at)
	if err == nil && !sumMatches(sum, index) {
		err = errors.New("wrong checksum of the index")
	}
	return index, err
}

// tailBefore reads a length, which ends at a place, and as much before it.
func tailBefore(f *os.File, end int64) (tail []byte, at int64, err error) {
	var length [4]byte
	if _, err := f.ReadAt(length[:], max(end-4, 0)); err != nil {
		return nil, 0, err
	}
	n := int64(binary.BigEndian.Uint32(length[:]))
	if at = end - 4 - n; at < 0 {
		return nil, 0, errors.New("cut short")
	}
	tail = make([]byte, n)
	_, err = f.ReadAt(tail, at)
	return tail, at, err
}

func verifyBlocks(r io.Reader, index *fb.TableIndex) error {
	var at fb.BlockOffset
	var buf []byte
	var end uint64
	for i := range index.OffsetsLength() {
		if !index.Offsets(&at, i) || uint64(at.Offset()) != end {
			return fmt.Errorf("block %d is not behind the one before", i)
		}
		end += uint64(at.Len())
		buf = slices.Grow(buf[:0], int(at.Len()))[:at.Len()]
		if _, err := io.ReadFull(r, buf); err != nil {
			return err
		}
		block, sum, err := cutTail(buf)
		if err != nil || !sumMatches(sum, block) {
			return fmt.Errorf("wrong checksum of block %d at %d", i, at.Offset())
		}
	}
	return nil
}

// cutTail takes a length off the end of b, and as much before it.
func cutTail(b []byte) (rest, tail []byte, err error) {
	end := len(b) - 4
	if end < 0 {
		return nil, nil, errors.New("cut short")
	}
	n := int64(binary.BigEndian.Uint32(b[end:]))
	if n > int64(end) {
		return nil, nil, errors.New("cut short")
	}
	return b[:int64(end)-n], b[int64(end)-n : end], nil
}

// sumMatches reads a checksum as Badger encodes it (a protobuf message: 1 the
// algorithm, 2 the sum) and compares. No algorithm is given for CRC32C, which is
// the only one that Badger writes unless told otherwise.
func sumMatches(message, data []byte) bool {
	var fields [3]uint64
	for len(message) > 0 {
		v, n := binary.Uvarint(message[1:])
		field := message[0] >> 3
		if n <= 0 || message[0]&7 != 0 || field < 1 || field > 2 {
			return false
		}
		fields[field], message = v, message[1+n:]
	}
	return fields[1] == 0 && fields[2] == uint64(crc32.Checksum(data, castagnoli))
}
