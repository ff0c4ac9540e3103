package taskstate

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The stores under testdata/format-1 were written by the last version of this
// package with format 1 (options: Node "gold"; every task: Upstream "up", Tool its
// name, TTL 100 years, PollInterval 1s, MaxRun 1h, Stall 1m), which made the
// tasks of golden in that order, touched "dispatched" with "3/10 linking", and
// then closed the store (closed), or was killed three seconds later (killed).
// LOCK was left out, and holes were packed as such: tar --sparse. A change of
// format adds such a directory and leaves these as they are.
var golden = []Task{
	{Tool: "finished", Owner: "alice", Status: Completed, Outcome: []byte(`{"content":[{"type":"text","text":"done"}]}`)},
	{Tool: "large", Owner: "alice", Status: Completed, Outcome: bytes.Repeat([]byte("0123456789abcdef"), 512)}, // in the value log
	{Tool: "failed", Owner: "bob", Status: Failed, StatusMessage: "it broke", Dispatched: true, Outcome: []byte(`{"code":-32603,"message":"it broke"}`)},
	{Tool: "cancelled", Owner: "alice", Status: Cancelled, StatusMessage: "no longer wanted"},
	{Tool: "unsent", Owner: "bob", Status: Working, Request: []byte(`{"name":"unsent"}`)},
	{Tool: "asking", Owner: "bob", Status: InputRequired, Dispatched: true},
	{Tool: "dispatched", Owner: "alice", Status: Working, StatusMessage: "3/10 linking", Progress: []byte(`{"progress":3,"total":10}`), Dispatched: true},
}

var goldenSecrets = map[string]string{
	"closed": "2721f8ea1bb555a35c8b62a35ce7ec9f9aaacc39656043d1f3057e0537d48fdb",
	"killed": "c69695a0d84a0d1227459c5c75321560dcc4dd7b24ba38e9567e568bf31a5647",
}

// unpack gives a store of testdata back its files, holes included.
func unpack(t testing.TB, path string) (dir string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return dir
		}
		if err == nil && h.Typeflag != tar.TypeDir {
			err = unpackFile(filepath.Join(dir, filepath.Base(h.Name)), r, h.Size)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func unpackFile(path string, r io.Reader, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); at < size; {
		n, err := io.ReadFull(r, block[:min(size-at, int64(len(block)))])
		if err != nil {
			return err
		}
		if !bytes.Equal(block[:n], zeros[:n]) {
			if _, err := f.WriteAt(block[:n], at); err != nil {
				return err
			}
		}
		at += int64(n)
	}
	return f.Truncate(size)
}

// checkGolden reads the golden tasks through the list, which format 1 lacks.
func checkGolden(t *testing.T, s *Store) {
	t.Helper()
	found := make(map[string]Task)
	for _, owner := range []string{"alice", "bob"} {
		for _, task := range listAll(t, s, owner, 2) {
			found[task.Tool] = get(t, s, task.ID)
		}
	}
	if len(found) != len(golden) {
		t.Errorf("%d tasks are listed", len(found))
	}
	var last time.Time
	for _, want := range golden {
		got := found[want.Tool]
		if !got.CreatedAt.After(last) || got.UpdatedAt.Before(got.CreatedAt) || got.FinishedAt.IsZero() == got.Status.Terminal() {
			t.Errorf("%s: times %v, %v, %v", want.Tool, got.CreatedAt, got.UpdatedAt, got.FinishedAt)
		}
		last = got.CreatedAt
		want.Upstream, want.TTL, want.PollInterval, want.MaxRun, want.Stall = "up", maxTTL, time.Second, time.Hour, time.Minute
		want.ID, want.CreatedAt, want.UpdatedAt, want.FinishedAt = got.ID, got.CreatedAt, got.UpdatedAt, got.FinishedAt
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", want.Tool, diff)
		}
	}
	if n := len(s.Running()); n != 3 {
		t.Errorf("%d tasks run, want 3", n)
	}
}
