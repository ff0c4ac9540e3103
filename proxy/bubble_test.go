package proxy

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// bubble runs a test on a fake clock, with a real store. A goroutine that is left
// over in the end fails it.
func bubble(t *testing.T, f func(t *testing.T, store *disk)) {
	t.Helper()
	store := &disk{dir: t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		store.opens(t)
		t.Cleanup(func() { store.closes(t) })
		f(t, store)
	})
}

// disk is a store that can be opened again, as by another process.
type disk struct {
	*taskstate.Store
	dir  string
	most int64       // bytes in it; 0 is no limit
	full atomic.Bool // nothing can be written any more
}

func (d *disk) free(string) (uint64, error) {
	if d.full.Load() {
		return 1 << 20, nil
	}
	return 10 << 30, nil
}

func (d *disk) opens(t *testing.T) {
	t.Helper()
	var err error
	if d.Store, err = taskstate.Open(context.Background(), d.dir, &taskstate.Options{SweepEvery: never, FreeSpace: d.free, MaxBytes: d.most}); err != nil {
		t.Fatal(err)
	}
}

// bounded opens the store again, for no more than so many bytes.
func (d *disk) bounded(t *testing.T, most int64) {
	t.Helper()
	d.closes(t)
	d.most = most
	d.opens(t)
}

func (d *disk) closes(t *testing.T) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// never is behind the end of every test.
const never = 10000 * time.Hour

// settle lets everything happen that is about to.
func settle() {
	time.Sleep(time.Millisecond)
	synctest.Wait()
}

// within fails the test where f hangs.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Hour):
		t.Fatalf("%s does not return", what)
	}
}
