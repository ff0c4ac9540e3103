package taskstate

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// tallyFile lies beside the database and says what must be in it. Badger loses
// the end of a log, or the tables that a shortened manifest no longer names,
// without a word; a tally that is ahead of the database gives that away.
const tallyFile = "TALLY"

// tally is what the file holds. It is written after each commit and not synced:
// it survives the end of the process, and after a power failure it may lag behind
// the database but is never ahead of it.
type tally struct {
	changes  uint64 // commits that were acknowledged, as under m/changes
	manifest int64  // bytes of the manifest, which only grows
	suspect  bool   // a commit failed: it may be on disk all the same
}

const tallyFormat = "changes %020d manifest %012d state %-7s "

// encode gives all tallies the same length, so that one overwrites the other.
func (t tally) encode() []byte {
	state := "good"
	if t.suspect {
		state = "suspect"
	}
	line := fmt.Appendf(nil, tallyFormat, t.changes, t.manifest, state)
	return fmt.Appendf(line, "crc %08x\n", crc32.Checksum(line, castagnoli))
}

func parseTally(b []byte) (t tally, err error) {
	var state string
	if _, err = fmt.Sscanf(string(b), "changes %d manifest %d state %s", &t.changes, &t.manifest, &state); err != nil {
		return tally{}, fmt.Errorf("%w: %w", errBadRecord, err)
	}
	t.suspect = state == "suspect"
	if string(t.encode()) != string(b) {
		return tally{}, errBadRecord
	}
	return t, nil
}

// readTally returns the tally of dir. That there is none is no error: a store of
// the former format has none, nor has a new one.
func readTally(dir string) (t tally, found bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, tallyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return tally{}, false, nil
	}
	if err == nil {
		t, err = parseTally(b)
	}
	if err != nil {
		return tally{}, true, fmt.Errorf("%s: %w", filepath.Join(dir, tallyFile), err)
	}
	return t, true, nil
}

// tallyWriter has the file open. It also tells whether the directory is still
// the one that was opened.
type tallyWriter struct {
	dir  string
	file *os.File
	own  fs.FileInfo

	seen   int64 // bytes of the manifest, some time before the last write
	looked time.Time
}

func openTally(dir string) (*tallyWriter, error) {
	f, err := os.OpenFile(filepath.Join(dir, tallyFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("task store: %w", err)
	}
	own, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("task store: %w", err), f.Close())
	}
	return &tallyWriter{dir: dir, file: f, own: own}, nil
}

// begin is the first write: whatever else was in the file is gone after it.
func (w *tallyWriter) begin(t tally) error {
	w.look()
	if err := w.write(t); err != nil {
		return fmt.Errorf("task store: %w", err)
	}
	return w.file.Truncate(int64(len(t.encode())))
}

// write puts down t with the manifest as it was a while before: its very end may
// not be on disk yet, and would be missing after a power failure.
func (w *tallyWriter) write(t tally) error {
	t.manifest = w.seen
	if time.Since(w.looked) >= time.Second {
		w.look()
	}
	_, err := w.file.WriteAt(t.encode(), 0)
	return err
}

func (w *tallyWriter) look() {
	if info, err := os.Stat(filepath.Join(w.dir, manifestFile)); err == nil {
		w.seen = info.Size()
	}
	w.looked = time.Now()
}

// end is the last write, once Badger has closed.
func (w *tallyWriter) end(t tally) error {
	w.look()
	return errors.Join(w.write(t), w.file.Sync())
}

// inPlace fails if what was opened no longer lies at its path: Badger would go on
// writing to files that nobody will ever find again.
func (w *tallyWriter) inPlace() error { return inPlace(filepath.Join(w.dir, tallyFile), w.own) }

func inPlace(path string, own fs.FileInfo) error {
	now, err := os.Stat(path)
	if err == nil && !os.SameFile(now, own) {
		err = errors.New("another one lies there now")
	}
	if err != nil {
		return fmt.Errorf("%s was deleted, moved or replaced while it was open, or its directory was (%w): put it back, or start again", path, err)
	}
	return nil
}

func (w *tallyWriter) close() error { return w.file.Close() }
