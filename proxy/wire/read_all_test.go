package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A length is a guess: it may be too small, too large, or a lie.
func TestReadAllTakesAnyLength(t *testing.T) {
	text := strings.Repeat("0123456789", 30_000)
	for _, length := range []int64{-1, 0, 1, int64(len(text)), 1 << 40} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "halves": iotest.HalfReader(strings.NewReader(text))} {
			got, err := ReadAll(r, length)
			if err != nil || string(got) != text {
				t.Errorf("%s, length %d: %d bytes of %d, error %v", name, length, len(got), len(text), err)
			}
			if cap(got) > 2*len(text) {
				t.Errorf("%s, length %d: room for %d bytes", name, length, cap(got))
			}
		}
	}
}

// Whoever claims a length and sends nothing has cost little.
func TestReadAllBelievesLittle(t *testing.T) {
	got, err := ReadAll(strings.NewReader(""), 1<<40)
	if err != nil || cap(got) > 4<<10 {
		t.Errorf("room for %d bytes, error %v", cap(got), err)
	}
	if got, err = ReadAll(strings.NewReader(""), maxExpected); err != nil || cap(got) > 2*maxExpected {
		t.Errorf("room for %d bytes, error %v", cap(got), err)
	}
}

func TestReadAllKeepsWhatCameBeforeAnError(t *testing.T) {
	broken := errors.New("cut off")
	got, err := ReadAll(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), 8)
	if string(got) != "half" || !errors.Is(err, broken) {
		t.Errorf("got %q, error %v", got, err)
	}
}
