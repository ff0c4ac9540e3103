package taskstate

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTaskComesBackAsItWas(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	want := create(t, s, Task{
		Owner: "me", Upstream: "up", Tool: "build", StatusMessage: "queued", Progress: []byte(`{"progress":1.0}`),
		TTL: time.Minute, PollInterval: time.Second, MaxRun: 2 * time.Hour, Stall: 5 * time.Minute,
		Request: []byte(`{"n":9007199254740993}`),
		ID:      "ignored", Outcome: []byte("ignored"),
	})
	if want.ID == "ignored" || want.Outcome != nil || want.Status != Working {
		t.Fatalf("Create took over what is not the caller's: %+v", want)
	}
	for range 2 {
		if diff := cmp.Diff(want, get(t, s, want.ID)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]Task{want}, s.Running()); diff != "" {
			t.Error(diff)
		}
		shut(t, s)
		s = open(t, dir, nil)
	}
}

func TestPayloadsKeepEveryByte(t *testing.T) {
	large := make([]byte, 5<<20)
	rand.Read(large)
	payloads := map[string][]byte{
		"nil": nil, "empty": {}, "one byte": {0}, "json null": []byte("null"),
		"below the value log": large[:valueThreshold-recordOverhead-1], "at it": large[:valueThreshold-recordOverhead],
		"5 MiB": large, "the largest": bytes.Repeat([]byte("0123456789abcdef"), MaxPayload/16),
	}
	dir := t.TempDir()
	s := open(t, dir, nil)
	ids := make(map[string]string)
	for name, p := range payloads {
		ids[name] = create(t, s, Task{Request: p}).ID
	}
	shut(t, s)
	s = open(t, dir, nil)
	for name, p := range payloads {
		if got := get(t, s, ids[name]).Request; !sameBytes(got, p) {
			t.Errorf("request %s differs after reopening", name)
		}
		complete(t, s, ids[name], p)
	}
	shut(t, s)
	s = open(t, dir, nil)
	for name, p := range payloads {
		if got := get(t, s, ids[name]); !sameBytes(got.Outcome, p) || got.Request != nil {
			t.Errorf("outcome %s: %d bytes, want %d", name, len(got.Outcome), len(p))
		}
	}
}

func sameBytes(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

func TestTooLargeIsRefusedBeforeAnythingIsStored(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	ctx := context.Background()
	for _, task := range []Task{{Request: make([]byte, MaxPayload+1)}, {Owner: strings.Repeat("x", maxText+1)}} {
		task.TTL = time.Hour
		if _, err := s.Create(ctx, task); !errors.Is(err, ErrTooLarge) {
			t.Errorf("Create: %v", err)
		}
	}
	id := create(t, s, Task{}).ID
	if _, err := s.Finish(ctx, id, Outcome{Status: Completed, Payload: make([]byte, MaxPayload+1)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Finish: %v", err)
	}
	if got := get(t, s, id).Status; got != Working {
		t.Errorf("after the refused end: %s", got)
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	ctx := context.Background()
	for _, task := range []Task{{}, {TTL: -1}, {TTL: maxTTL + 1}, {TTL: 1, Status: Completed}, {TTL: 1, Status: "paused"}} {
		if got, err := s.Create(ctx, task); err == nil {
			t.Errorf("Create took %+v", got)
		}
	}
	id := create(t, s, Task{}).ID
	for _, o := range []Outcome{{}, {Status: Working}, {Status: "paused"}, {Status: Cancelled, Payload: []byte("x")}} {
		if _, err := s.Finish(ctx, id, o); err == nil {
			t.Errorf("Finish took %+v", o)
		}
	}
	for _, id := range []string{"", "x", strings.Repeat("A", 1<<20), "../../etc/passwd", rand.Text(), "other-" + rand.Text(), "-" + rand.Text(), "UP-" + rand.Text(), "a-b-" + rand.Text(), strings.Repeat("n", 33) + "-" + rand.Text()} {
		if _, err := s.Get(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("Get: %v", err)
		}
		if err := s.MarkDispatched(ctx, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("MarkDispatched: %v", err)
		}
		if _, err := s.Finish(ctx, id, Outcome{Status: Failed}); !errors.Is(err, ErrNotFound) {
			t.Errorf("Finish: %v", err)
		}
		s.Touch(id, "", nil)
	}
}

func TestOfManyEndsExactlyOneWins(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	for range 20 {
		id := create(t, s, Task{Request: []byte("q")}).ID
		var wins atomic.Int32
		var ends sync.Map
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				task, err := s.Finish(context.Background(), id, Outcome{Status: Failed, Payload: fmt.Append(nil, i)})
				if err == nil {
					wins.Add(1)
				} else if !errors.Is(err, ErrFinished) {
					t.Error(err)
				}
				ends.Store(string(task.Outcome), nil)
			})
			wg.Go(func() { s.MarkDispatched(context.Background(), id) })
			wg.Go(func() { s.Touch(id, fmt.Sprint(i), nil) })
		}
		wg.Wait()
		n := 0
		ends.Range(func(any, any) bool { n++; return true })
		if wins.Load() != 1 || n != 1 {
			t.Fatalf("%d winners, %d different ends", wins.Load(), n)
		}
	}
}

// A call that was sent before it became a task must never look unsent: it would
// be sent again after a crash.
func TestTaskOfASentCallIsNeverUnsent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	id := create(t, s, Task{Dispatched: true, Request: []byte("q")}).ID
	if err := s.MarkDispatched(t.Context(), id); !errors.Is(err, ErrDispatched) {
		t.Errorf("MarkDispatched: %v", err)
	}
	shut(t, s)
	s = open(t, dir, nil)
	for _, task := range append(s.Running(), get(t, s, id)) {
		if !task.Dispatched || task.Request != nil {
			t.Errorf("dispatched %v, request %q", task.Dispatched, task.Request)
		}
	}
	if n := len(s.Running()); n != 1 {
		t.Errorf("%d tasks run, want 1", n)
	}
}

func TestRequestIsDispatchedOnceAndThenGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	id := create(t, s, Task{Request: []byte("secret")}).ID
	var wins atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := s.MarkDispatched(context.Background(), id)
			if err == nil {
				wins.Add(1)
			} else if !errors.Is(err, ErrDispatched) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d callers may send the request", wins.Load())
	}
	for range 2 {
		if got := get(t, s, id); !got.Dispatched || got.Request != nil {
			t.Errorf("%+v", got)
		}
		shut(t, s)
		s = open(t, dir, nil)
	}
	complete(t, s, id, nil)
	if err := s.MarkDispatched(context.Background(), id); !errors.Is(err, ErrFinished) {
		t.Errorf("dispatch after the end: %v", err)
	}
}

// What is queued while a batch is on its way to the disk makes the next one.
func TestSimultaneousCreatesShareTheirSyncs(t *testing.T) {
	dir := t.TempDir()
	var hold atomic.Bool
	release := make(chan struct{})
	s := open(t, dir, &Options{SweepEvery: time.Hour, FreeSpace: func(dir string) (uint64, error) {
		if hold.Swap(false) { // of the first batch
			<-release
		}
		return freeSpace(dir)
	}})
	settle(t, s)
	before := changes(t, dir)
	hold.Store(true)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() { create(t, s, Task{Request: []byte("x")}) })
	}
	for queued := 0; queued == 0 || hold.Load() || queued < 32; runtime.Gosched() {
		s.mu.Lock()
		queued = len(s.queue)
		s.mu.Unlock()
	}
	close(release)
	wg.Wait()
	if n := changes(t, dir) - before; n > 34 {
		t.Errorf("64 Creates took %d transactions", n)
	}
}

func TestCloseIsFinal(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	id := create(t, s, Task{}).ID
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { shut(t, s) })
		wg.Go(func() {
			for {
				if _, err := s.Create(context.Background(), Task{TTL: 1}); err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	wg.Wait()
	if _, err := s.Get(id); !errors.Is(err, ErrClosed) {
		t.Errorf("Get: %v", err)
	}
	if _, err := s.Finish(context.Background(), id, Outcome{Status: Failed}); !errors.Is(err, ErrClosed) {
		t.Errorf("Finish: %v", err)
	}
	s.Touch(id, "late", nil)
}

func TestEndedContextChangesNothing(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	id := create(t, s, Task{}).ID
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, errCreate := s.Create(ctx, Task{TTL: 1})
	_, errFinish := s.Finish(ctx, id, Outcome{Status: Failed})
	for _, err := range []error{errCreate, errFinish, s.MarkDispatched(ctx, id)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if got := s.Running(); len(got) != 1 || got[0].Dispatched {
		t.Errorf("%+v", got)
	}
}
