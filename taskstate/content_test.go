package taskstate

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strings"
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
