package taskstate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// killedStore is what a kill leaves, with requests of these sizes in the journal only.
func killedStore(t *testing.T, sizes ...int) (dir string) {
	t.Helper()
	from := t.TempDir()
	s := open(t, from, &Options{SweepEvery: time.Hour})
	settle(t, s)
	s.applier.park()
	for i, n := range sizes {
		create(t, s, Task{Owner: "me", Request: bytes.Repeat([]byte{byte(i)}, n)})
	}
	dir = copyStore(t, from)
	s.applier.unpark()
	shut(t, s)
	return dir
}

// The file stays as long as it once was, and may hold much that is done with.
func TestLongJournalThatHoldsLittleAsksForLittleRoom(t *testing.T) {
	dir := killedStore(t, 1000, 1000, 100_000)
	if err := os.Truncate(filepath.Join(dir, journalFile), 64<<20); err != nil {
		t.Fatal(err)
	}
	var d disk
	o := d.options()
	d.free.Store(defaultReserve)
	if n := len(open(t, dir, o).Running()); n != 3 {
		t.Errorf("%d tasks", n)
	}
}

func TestReplayThatTheDiskHasNoRoomForIsRefusedAndLosesNothing(t *testing.T) {
	const large, reserve = 8 << 20, 26 << 20
	dir := killedStore(t, large, large)
	var d disk
	o := d.options()
	o.Reserve = reserve
	d.free.Store(reserve)
	if _, err := Open(context.Background(), dir, o); !errors.Is(err, ErrNoSpace) {
		t.Errorf("16 MB to replay, and no more than the reserve of 26 is free: %v", err)
	}
	d.free.Store(reserve/2 + 2*large + 1<<20)
	s := open(t, dir, o)
	d.free.Store(10 << 30)
	if n := len(s.Running()); n != 2 || len(s.Running()[0].Request) != large {
		t.Errorf("%d tasks", n)
	}
}
