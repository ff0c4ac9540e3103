package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// entry is one token that is accepted.
type entry struct {
	name string
	hash [sha256.Size]byte
}

// tokens is the tokens file. It is looked at, at most once a second, by the
// requests themselves: one that meets another's look goes by what is there.
type tokens struct {
	path    string
	now     func() time.Time
	log     zerolog.Logger
	current atomic.Pointer[[]entry]

	mu      sync.Mutex
	looked  time.Time   // when the file was last looked at
	seen    fs.FileInfo // the file that was last read, good or bad
	settled bool        // seen was old enough when it was read to show any change
	failure string      // why the file is not in use as it stands; logged
}

// lookEvery bounds how often, and so how late, a change is noticed.
const lookEvery = time.Second

// settleTime is more than the steps of any file system's clock. A change
// within one step of the last one may leave size and time as they were.
const settleTime = 2 * time.Second

// CheckTokens says what is wrong with a tokens file, in a line for whoever wrote
// it.
func CheckTokens(path string) error {
	_, err := openTokens(path, time.Now, zerolog.Nop())
	return err
}

func openTokens(path string, now func() time.Time, log zerolog.Logger) (*tokens, error) {
	t := &tokens{path: path, now: now, log: log}
	list, err := t.read()
	if err != nil {
		return nil, err
	}
	t.current.Store(&list)
	return t, nil
}

// lookup returns the name of the owner of a token. The time that it takes does
// not depend on which token it is, nor on how much of one was guessed.
func (t *tokens) lookup(token string) (name string, ok bool) {
	t.refresh()
	hash := sha256.Sum256([]byte(token))
	found := -1
	list := *t.current.Load()
	for i := range list {
		same := subtle.ConstantTimeCompare(hash[:], list[i].hash[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return "", false
	}
	return list[found].name, true
}

// refresh takes up a file that has changed. A bad one is logged and changes
// nothing: a slip of the editor must not lock everybody out. So tokens are
// withdrawn by taking out their lines, not by deleting the file.
func (t *tokens) refresh() {
	if !t.mu.TryLock() {
		return
	}
	defer t.mu.Unlock()
	if t.now().Before(t.looked.Add(lookEvery)) {
		return
	}
	t.looked = t.now()
	if info, err := os.Stat(t.path); err == nil && t.settled && sameFile(info, t.seen) {
		return
	}
	list, err := t.read()
	if err != nil {
		t.failed(err)
		return
	}
	t.took(list)
}

func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// failed logs a failure once, not once a second.
func (t *tokens) failed(err error) {
	if t.failure != err.Error() {
		t.failure = err.Error()
		t.log.Error().Err(err).Msg("the tokens file cannot be used; the tokens that were read before stay good")
	}
}

func (t *tokens) took(list []entry) {
	old := *t.current.Swap(&list)
	if t.failure != "" || !equalEntries(old, list) {
		t.failure = ""
		t.log.Info().Str("file", t.path).Int("tokens", len(list)).Msg("tokens file read again")
	}
}

func equalEntries(a, b []entry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
