package wire

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzLineReader holds the reader against one that has the whole text at once,
// and looks at what it keeps of lines that are too long.
func FuzzLineReader(f *testing.F) {
	f.Add([]byte("{}\r\n\n \t\n[1]\n"+`{"id":1,"result":{}}`), 5)
	f.Add([]byte("\xef\xbb\xbf{}\n\x00\n\r\r\n"+strings.Repeat("x", 100)+"\r\n"), 99)
	f.Add([]byte(strings.Repeat("[", 70<<10)+"\n{}"), 64<<10)
	f.Fuzz(func(t *testing.T, input []byte, limit int) {
		if limit < 0 || limit > 1<<17 || len(input) > 1<<18 {
			return
		}
		want := plainLines(string(input), limit)
		for _, r := range []io.Reader{bytes.NewReader(input), iotest.OneByteReader(bytes.NewReader(input)), iotest.DataErrReader(bytes.NewReader(input))} {
			if got := shortLines(t, NewLineReader(r, limit)); !slices.Equal(got, want) {
				t.Fatalf("lines %q, want %q", got, want)
			}
		}
	})
}

// plainLines are the lines that have something in them and are no longer than
// limit.
func plainLines(input string, limit int) (lines []string) {
	for line := range strings.SplitSeq(input, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) != "" && len(line) <= limit {
			lines = append(lines, line)
		}
	}
	return lines
}

func shortLines(t *testing.T, r *LineReader) (lines []string) {
	for {
		line, err := r.Next()
		var tooLong *TooLongError
		switch {
		case err == nil:
			lines = append(lines, string(line))
		case errors.As(err, &tooLong):
			checkTooLong(t, tooLong)
		case err == io.EOF:
			return lines
		default:
			t.Fatal(err)
		}
	}
}

// checkTooLong wants little kept, and an id only that is one.
func checkTooLong(t *testing.T, e *TooLongError) {
	t.Helper()
	if len(e.Head) > keptOfLong || len(e.Tail) > keptOfLong {
		t.Fatalf("of %d bytes, %d and %d are kept", e.Size, len(e.Head), len(e.Tail))
	}
	if id := e.ID(); id != nil && !validID(id) {
		t.Fatalf("%q is taken for an id", id)
	}
	_ = e.Method()
}

// FuzzLineWriter: whatever is written, each message is one line and nothing of
// it is lost but line ends, which JSON has between tokens only.
func FuzzLineWriter(f *testing.F) {
	f.Add([]byte("{\n\"a\":1\r\n}"), []byte("\n\n"))
	f.Add([]byte("\x00\xff"), []byte{})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var out bytes.Buffer
		w := NewLineWriter(&out)
		want := ""
		for _, line := range [][]byte{first, second} {
			if err := w.WriteMessage(Message{raw: bytes.Clone(line)}); err != nil {
				t.Fatal(err)
			}
			want += strings.ReplaceAll(string(line), "\n", " ") + "\n"
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("written %q, want %q", got, want)
		}
	})
}
