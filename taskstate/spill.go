package taskstate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// spillDir holds what is too large for a record, one file each: the task's id, a
// dot, and the SHA-256 of the content in hexadecimal digits.
const spillDir = "spilled"

// Spill keeps data that belongs to a running task in a file of its own, and returns the
// sum that names it. It is durable on return. What stands for the data is the caller's,
// and to be stored after it: the end of the task keeps the file, for as long as the
// task is kept, if the sum is in its Payload. An end without it, or one that is refused
// with ErrFull, deletes the file. Errors: ErrNotFound for a task that is not there,
// ErrFinished, ErrFull beyond MaxBytes, ErrNoSpace.
func (s *Store) Spill(id string, data []byte) (sum string, err error) {
	s.spilling.Lock() // what there is room for is written before the next asks
	defer s.spilling.Unlock()
	if err := s.maySpill(id, len(data)); err != nil {
		return "", err
	}
	hash := sha256.Sum256(data)
	sum = hex.EncodeToString(hash[:])
	err = s.writeSpilled(id, sum, data)
	if err == nil && !s.noteSpilled(id, sum) {
		err = fmt.Errorf("task %s has ended meanwhile: %w", id, ErrFinished)
	}
	if err != nil {
		s.dropUnnamed(id, sum)
		return "", fmt.Errorf("task store: %w", err)
	}
	return sum, nil
}

func (s *Store) writeSpilled(id, sum string, data []byte) error {
	if err := os.MkdirAll(filepath.Join(s.dir, spillDir), 0o700); err != nil {
		return err
	}
	if err := writeDurably(s.spillFile(id, sum), data); err != nil {
		return err
	}
	s.meter.add(int64(len(data)))
	return syncDir(s.dir)
}

// maySpill leaves the reserve to what must be written.
func (s *Store) maySpill(id string, size int) error {
	t, err := s.Get(id)
	if err == nil && t.Status.Terminal() {
		err = fmt.Errorf("task %s is %s: %w", id, t.Status, ErrFinished)
	}
	if err != nil {
		return err
	}
	if limit, used := s.opts.MaxBytes, s.meter.now(); limit > 0 && used+int64(size) > limit {
		s.crowded.Store(true)
		return &LimitError{Limit: limitBytes, Value: limit, Used: used}
	}
	free, err := s.opts.FreeSpace(s.dir)
	if err == nil && free < s.opts.Reserve+uint64(size) {
		return noSpace(s.dir, free, s.opts.Reserve+uint64(size))
	}
	return err
}

// writeDurably leaves no part of the file where it cannot write the whole.
func writeDurably(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Spilled returns what [Store.Spill] has kept of a task under that sum. Errors:
// ErrNotFound where there is none, or the task is none any more, and *DamagedError
// if the file is not what was written.
func (s *Store) Spilled(id, sum string) ([]byte, error) {
	if _, err := s.Get(id); err != nil {
		return nil, err
	}
	if len(sum) != hex.EncodedLen(sha256.Size) || strings.Trim(sum, "0123456789abcdef") != "" {
		return nil, ErrNotFound
	}
	path := s.spillFile(id, sum)
	data, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s: %w", path, ErrNotFound)
	}
	want, _ := hex.DecodeString(sum)
	if hash := sha256.Sum256(data); err == nil && !bytes.Equal(hash[:], want) {
		err = errBadRecord
	}
	if err != nil {
		return nil, &DamagedError{Dir: s.dir, ID: id, Why: fmt.Sprintf("%s: %v", path, err)}
	}
	return data, nil
}

func (s *Store) spillFile(id, sum string) string {
	return filepath.Join(s.dir, spillDir, id+"."+sum)
}

// readRegular does not wait for what is no file: a pipe that somebody put there.
func readRegular(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errBadRecord
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
