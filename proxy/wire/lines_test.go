package wire

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// linesOf reads until io.EOF; a line that is too long counts as its size.
func linesOf(t *testing.T, r io.Reader, limit int) (lines []string) {
	t.Helper()
	for reader := NewLineReader(r, limit); ; {
		line, err := reader.Next()
		var tooLong *TooLongError
		switch {
		case errors.As(err, &tooLong):
			lines = append(lines, fmt.Sprintf("too long: %d > %d", tooLong.Size, tooLong.Limit))
		case err == io.EOF:
			return lines
		case err != nil:
			t.Fatal(err)
		default:
			lines = append(lines, string(line))
		}
	}
}

func TestLinesLoseTheirEndsOnly(t *testing.T) {
	tests := []struct {
		name, input string
		want        []string
	}{
		{"nothing", "", nil},
		{"newlines", "{}\n[]\n", []string{"{}", "[]"}},
		{"CRLF", "{}\r\n[]\r\n", []string{"{}", "[]"}},
		{"mixed", "{}\r\n[]\n1\r\n", []string{"{}", "[]", "1"}},
		{"a CR of its own", "{\r}\r\r\n", []string{"{\r}\r"}},
		{"blank lines", "\n\r\n \t\n{}\n\n\n[]\n\n", []string{"{}", "[]"}},
		{"outer white space", "  {} \n", []string{"  {} "}},
		{"no last newline", "{}\n[]", []string{"{}", "[]"}},
		{"no last newline, white space", "{}\n \t", []string{"{}"}},
		{"line separators in strings", "\"\u2028\u2029\u0085\v\f\"\n", []string{"\"\u2028\u2029\u0085\v\f\""}},
	}
	for _, tt := range tests {
		for name, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "early EOF": iotest.DataErrReader} {
			if diff := cmp.Diff(tt.want, linesOf(t, wrap(strings.NewReader(tt.input)), 1<<20)); diff != "" {
				t.Errorf("%s, %s: -want +got:\n%s", tt.name, name, diff)
			}
		}
	}
}

func TestLimitCountsTheMessageAlone(t *testing.T) {
	const buffer = 64 << 10
	for _, limit := range []int{1, 100, buffer - 2, buffer - 1, buffer, buffer + 1, 3*buffer - 1, 3 * buffer, 200_000} {
		for _, end := range []string{"\n", "\r\n", ""} {
			for size := max(1, limit-1); size <= limit+3; size++ {
				line := strings.Repeat("x", size)
				want := []string{"a", line, "b"}
				if size > limit {
					want[1] = fmt.Sprintf("too long: %d > %d", size, limit)
				}
				input := "a\n" + line + end + "b"
				if end == "" { // the last line
					want, input = want[:2], "a\n"+line
				}
				if diff := cmp.Diff(want, linesOf(t, strings.NewReader(input), limit)); diff != "" {
					t.Errorf("limit %d, size %d, end %q: wrong lines", limit, size, end)
				}
			}
		}
	}
}

func TestLinesOfEverySizeAreWhole(t *testing.T) {
	const buffer = 64 << 10
	text := strings.Repeat("0123456", 32<<20/7+1)
	for _, size := range []int{1 << 10, buffer - 2, buffer - 1, buffer, buffer + 1, 2 * buffer, 5 << 20, 32 << 20} {
		line := text[:size]
		input := io.MultiReader(strings.NewReader("a\n"), strings.NewReader(line), strings.NewReader("\r\nb\n"))
		got := linesOf(t, input, 32<<20)
		if len(got) != 3 || got[0] != "a" || got[1] != line || got[2] != "b" {
			t.Errorf("size %d: %d lines, or other ones", size, len(got))
		}
	}
}

func TestLinesAreInMemoryOfTheirOwn(t *testing.T) {
	r := NewLineReader(strings.NewReader("first\nother\n"+strings.Repeat("x", 100<<10)+"\n"), 1<<20)
	first, _ := r.Next()
	_ = append(first, "!!!!!!"...)
	second, _ := r.Next()
	if _, err := r.Next(); err != nil || string(first) != "first" || string(second) != "other" {
		t.Errorf("lines became %q and %q, %v", first, second, err)
	}
}

// endless is a line of so many bytes, made as it is read.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(e.left, len(p))
	e.left -= n
	for i := range p[:n] {
		p[i] = 'x'
	}
	return n, nil
}

func TestEndlessLineFillsNoMemory(t *testing.T) {
	const size = 64 << 20
	source := &endless{left: size}
	r := NewLineReader(io.MultiReader(source, strings.NewReader("\n{}\n")), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := r.Next()
	runtime.ReadMemStats(&after)
	var tooLong *TooLongError
	if !errors.As(err, &tooLong) || tooLong.Size != size || len(tooLong.Head) > 4<<10 || len(tooLong.Tail) > 4<<10 {
		t.Fatalf("Next() = %v", err)
	}
	// A limit of 1 MB, doublings on the way to it, and what the test reads.
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 12 {
		t.Errorf("reading past a line of %d MB took %d MB", size>>20, used)
	}
	if line, err := r.Next(); string(line) != "{}" || err != nil {
		t.Errorf("then Next() = %q, %v", line, err)
	}
}

func TestBrokenInputIsNoLine(t *testing.T) {
	broken := errors.New("broken")
	for _, part := range []string{"", `{"a`, strings.Repeat("x", 70<<10), strings.Repeat("x", 300<<10)} {
		r := NewLineReader(io.MultiReader(strings.NewReader("{}\n"+part), iotest.ErrReader(broken)), 100<<10)
		if line, err := r.Next(); string(line) != "{}" || err != nil {
			t.Fatalf("Next() = %q, %v", line, err)
		}
		for range 2 {
			if line, err := r.Next(); line != nil || err != broken {
				t.Errorf("after %d bytes of a line: %q, %v", len(part), line, err)
			}
		}
	}
}

// A reader that waits in spite of what it said last would keep back for ever
// what is gathered until it waits.
func TestMoreIsTakenBackBeforeEveryWait(t *testing.T) {
	pr, pw := io.Pipe()
	said := make(chan bool, 10)
	r := NewLineReader(pr, 1<<20)
	r.OnMore(func(more bool) { said <- more })
	lines := make(chan string)
	go func() {
		defer close(lines)
		for {
			line, err := r.Next()
			if err != nil {
				return
			}
			lines <- string(line)
		}
	}()
	pw.Write([]byte("a\nb\n\n")) // behind b, only a blank line is there
	if a, more := <-lines, <-said; a != "a" || !more {
		t.Errorf("%q, more %v", a, more)
	}
	if b, more := <-lines, <-said; b != "b" || more {
		t.Errorf("%q, more %v", b, more)
	}
	pw.Close()
	if _, open := <-lines; open {
		t.Error("a line that nobody wrote")
	}
	if len(said) != 0 {
		t.Errorf("said %v after the end", <-said)
	}
}
