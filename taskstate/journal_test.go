package taskstate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// carry copies files of one store over those of another.
func carry(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A power failure leaves what was synced: the journal to its end, and of Badger
// what it had some time before, with more of it in part.
func TestPowerFailureLosesNothingThatWasAcknowledged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &Options{SweepEvery: time.Hour})
	before := create(t, s, Task{Request: []byte("before")}).ID
	settle(t, s)
	synced := copyStore(t, dir)
	s.applier.park()
	ended, large, unsent := create(t, s, Task{}).ID, create(t, s, Task{}).ID, create(t, s, Task{Request: []byte("q")}).ID
	dispatch(t, s, before)
	complete(t, s, ended, []byte("result"))
	complete(t, s, large, bytes.Repeat([]byte("large"), 1<<12))
	carry(t, dir, synced, journalFile)
	for _, tallied := range []bool{true, false} { // that file may have been written out, or not
		t.Run(fmt.Sprintf("tally=%t", tallied), func(t *testing.T) {
			lost := copyStore(t, synced)
			if tallied {
				carry(t, dir, lost, tallyFile)
			}
			for range 2 {
				checkRecovered(t, lost, before, ended, large, unsent)
			}
		})
	}
	s.applier.unpark()
	shut(t, s)
	checkRecovered(t, dir, before, ended, large, unsent)
}

func checkRecovered(t *testing.T, dir, sent, ended, large, unsent string) {
	t.Helper()
	s := open(t, dir, nil)
	defer shut(t, s)
	if n, _ := s.Usage(); n != 4 || s.Loss() != nil {
		t.Errorf("%d tasks, %v", n, s.Loss())
	}
	if got := get(t, s, sent); !got.Dispatched || got.Request != nil {
		t.Errorf("%+v would be sent again", got)
	}
	if got := get(t, s, unsent); got.Dispatched || string(got.Request) != "q" {
		t.Errorf("%+v", got)
	}
	if string(get(t, s, ended).Outcome) != "result" || len(get(t, s, large).Outcome) != 5<<12 {
		t.Error("an outcome differs")
	}
}

// The last entry may be there in part: nobody was told that it is there.
func TestEntryThatIsTornIsNoneAndNoLoss(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	settle(t, s)
	s.applier.park()
	first := create(t, s, Task{Owner: "first"}).ID
	whole := copyStore(t, dir)
	end := s.journal.end
	create(t, s, Task{Owner: "second"})
	carry(t, dir, whole, journalFile)
	s.applier.unpark()
	for cut := end + 1; cut < s.journal.end; cut += 97 {
		torn := copyStore(t, whole)
		if err := os.Truncate(filepath.Join(torn, journalFile), cut); err != nil {
			t.Fatal(err)
		}
		s := open(t, torn, nil)
		if n, _ := s.Usage(); n != 1 || s.Loss() != nil || get(t, s, first).Owner != "first" {
			t.Errorf("cut at %d: %d tasks, %v", cut, n, s.Loss())
		}
		shut(t, s)
	}
}

func TestJournalThatIsGoneIsALossAndNothingIsSent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	kept := create(t, s, Task{Request: []byte("q")}).ID
	settle(t, s)
	s.applier.park()
	create(t, s, Task{})
	hurt := copyStore(t, dir)
	if err := os.Remove(filepath.Join(hurt, journalFile)); err != nil {
		t.Fatal(err)
	}
	s.applier.unpark()
	s = open(t, hurt, nil)
	if got := get(t, s, kept); s.Loss() == nil || !got.Dispatched {
		t.Errorf("%v, %+v", s.Loss(), got)
	}
}

// Lap after lap, and killed in the middle of one.
func TestJournalStaysSmallAndEveryLapOfItIsGood(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &Options{SweepEvery: time.Hour})
	var ids []string
	for i := range 26 {
		ids = append(ids, create(t, s, Task{Request: bytes.Repeat([]byte{byte(i)}, 700<<10)}).ID)
		if i%10 == 9 {
			s.applier.park()
			killed := copyStore(t, dir)
			s.applier.unpark()
			checkRequests(t, killed, ids)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, journalFile)); err != nil || info.Size() > journalLap+1<<20 {
		t.Errorf("%v, %v", info.Size(), err)
	}
	shut(t, s)
	if info, err := os.Stat(filepath.Join(dir, journalFile)); err != nil || info.Size() > 0 {
		t.Errorf("after Close: %v, %v", info.Size(), err)
	}
	checkRequests(t, dir, ids)
}

func checkRequests(t *testing.T, dir string, ids []string) {
	t.Helper()
	s := open(t, dir, nil)
	defer shut(t, s)
	for i, id := range ids {
		if got := get(t, s, id).Request; !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, 700<<10)) {
			t.Errorf("request %d has %d bytes", i, len(got))
		}
	}
	if s.Loss() != nil {
		t.Error(s.Loss())
	}
}

func TestEndIsServedBeforeAndAfterBadgerHasIt(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	s.applier.park()
	id := create(t, s, Task{Owner: "me"}).ID
	complete(t, s, id, []byte("x"))
	if inMemory(s) != 1 || string(get(t, s, id).Outcome) != "x" || len(s.Running()) != 0 {
		t.Errorf("%d in memory, %d running", inMemory(s), len(s.Running()))
	}
	if _, err := s.Finish(context.Background(), id, Outcome{Status: Failed}); err == nil {
		t.Error("ended twice")
	}
	s.applier.unpark()
	if got := listAll(t, s, "me", 10); len(got) != 1 || inMemory(s) != 0 {
		t.Errorf("%d listed, %d in memory", len(got), inMemory(s))
	}
	if string(get(t, s, id).Outcome) != "x" {
		t.Error("not on disk")
	}
}

// A process that died between Badger's log and the values that it points to, as a
// power failure leaves it, has all that it acknowledged in the journal.
func TestValuesThatBadgerLostComeBackFromTheJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	want := bytes.Repeat([]byte("value "), 10_000) // in the value log
	task := create(t, s, Task{})
	complete(t, s, task.ID, want)
	if err := s.drain(); err != nil {
		t.Fatal(err)
	}
	copied := copyStore(t, dir)
	logs, err := filepath.Glob(filepath.Join(copied, "*.vlog"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("%q, %v", logs, err)
	}
	wipe(t, logs[len(logs)-1], want[:100])
	again := open(t, copied, nil)
	if got := get(t, again, task.ID); !bytes.Equal(got.Outcome, want) {
		t.Errorf("the result has %d bytes", len(got.Outcome))
	}
}

// Entries that are each small enough are not too much for Badger together.
func TestManyLongNamesAreAppliedAndReplayed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	var all sync.WaitGroup
	for range 600 {
		all.Go(func() { create(t, s, Task{Owner: strings.Repeat("o", 2000), Tool: strings.Repeat("t", 1000)}) })
	}
	all.Wait()
	copied := copyStore(t, dir) // as a kill would leave it
	if n := len(open(t, copied, nil).Running()); n != 600 {
		t.Errorf("after a crash there are %d of 600", n)
	}
	if err := s.drain(); err != nil {
		t.Errorf("applying: %v", err)
	}
}

// wipe puts zeros where a file holds the bytes.
func wipe(t *testing.T, path string, what []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, what)
	if at < 0 {
		t.Fatalf("%s does not hold it", path)
	}
	clear(text[at : at+len(what)])
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The journal is as long as it takes itself to be: what is beyond would be read again.
func TestJournalGrowsToWhatItSays(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if err := j.clear(); err != nil {
		t.Fatal(err)
	}
	for i, size := range []int{1, 5000, journalAhead, 3 * journalAhead, 100} {
		c := change{key: []byte("k"), value: bytes.Repeat([]byte{1}, size)}
		if err := j.append(uint64(i+1), []change{c}); err != nil {
			t.Fatal(err)
		}
		info, err := j.file.Stat()
		if err != nil || info.Size() != j.size || j.size < j.end {
			t.Errorf("after %d bytes more the journal ends at %d of %d, and has %d on disk (%v)", size, j.end, j.size, info.Size(), err)
		}
	}
	x, err := j.extent()
	if err != nil || x.first != 1 || x.last != 5 {
		t.Errorf("entries %d to %d, error %v", x.first, x.last, err)
	}
}
