package taskstate

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRecordNoticesEveryChangedBitAndEveryLength(t *testing.T) {
	key, body := []byte("o/X"), []byte("some outcome")
	rec := seal(key, body)
	if got, err := unseal(key, rec); err != nil || !bytes.Equal(got, body) {
		t.Fatalf("round trip: %q, %v", got, err)
	}
	for bit := range len(rec) * 8 {
		bad := slices.Clone(rec)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := unseal(key, bad); !errors.Is(err, errBadRecord) {
			t.Errorf("bit %d turned: %v", bit, err)
		}
	}
	for n := range rec {
		if _, err := unseal(key, rec[:n]); !errors.Is(err, errBadRecord) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := unseal(key, append(slices.Clone(rec), 0)); !errors.Is(err, errBadRecord) {
		t.Errorf("one byte more: %v", err)
	}
}

func TestRecordUnderAForeignKeyIsNotBelieved(t *testing.T) {
	rec := seal([]byte("o/A"), []byte("of A"))
	for _, key := range []string{"o/B", "t/A", "o/", ""} {
		if _, err := unseal([]byte(key), rec); !errors.Is(err, errBadRecord) {
			t.Errorf("under %q: %v", key, err)
		}
	}
}

func TestHeaderKeepsEveryField(t *testing.T) {
	at := time.Unix(1_700_000_000, 123_456_789).UTC()
	want := header{request: 0, outcome: -1, task: Task{
		Owner: "o", Upstream: "u\x00\xff", Tool: "", Status: InputRequired, StatusMessage: "3/10",
		Progress: []byte{}, CreatedAt: at, UpdatedAt: at.Add(1), TTL: 1, PollInterval: 2, MaxRun: -3, Stall: 4, Dispatched: true,
		Remote: []byte("r"), IsError: true,
	}}
	got, err := decodeHeader(want.encode())
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(header{})); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}
