//go:build unix

package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStderrTailKeepsTheLastLines(t *testing.T) {
	many, want := "", []string(nil)
	for i := range 30 {
		many += fmt.Sprintf("line %d\n", i)
		if i >= 10 {
			want = append(want, fmt.Sprintf("line %d", i))
		}
	}
	long := strings.Repeat("x", 2*stderrLineBytes)
	umlauts := strings.Repeat("x", stderrLineBytes-1) + "ü"
	tests := map[string]struct {
		text string
		want []string
	}{
		"nothing":              {"", nil},
		"unfinished last line": {"one\ntwo", []string{"one", "two"}},
		"blank lines":          {"\n \r\n\t\none\n\n", []string{"one"}},
		"carriage returns":     {"one\r\ntwo\r\n", []string{"one", "two"}},
		"colours":              {"\x1b[31mred\x1b[0m\n", []string{"\x1b[31mred\x1b[0m"}},
		"more than kept":       {many, want},
		"and one unfinished":   {many + "end", append(want[1:len(want):len(want)], "end")},
		"too long":             {long + "\nnext\n", []string{long[:stderrLineBytes] + "…", "next"}},
		"just not too long":    {long[:stderrLineBytes] + "\n", []string{long[:stderrLineBytes]}},
		"cut in a character":   {umlauts + "\n", []string{umlauts[:stderrLineBytes-1] + "…"}},
	}
	for name, test := range tests {
		for _, chunk := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s in chunks of %d", name, chunk), func(t *testing.T) {
				var tail stderrTail
				for text := []byte(test.text); len(text) > 0; {
					n := min(chunk, len(text))
					tail.add(text[:n])
					text = text[n:]
				}
				if diff := cmp.Diff(test.want, tail.lines()); diff != "" {
					t.Error("lines (-want +got):\n" + diff)
				}
			})
		}
	}
}

func TestStderrWithoutNewlineIsForwardedWholeAndKeptShort(t *testing.T) {
	var got countingWriter
	p := start(t, childCommand("flood"), processOptions{Stderr: &got, CloseGrace: ample})
	readLine(t, stdoutOf(p))
	doing(t, "stop", func() { p.stop(t.Context()) })
	report := p.exit()
	if want := []string{strings.Repeat("x", stderrLineBytes) + "…"}; !cmp.Equal(want, report.Stderr) {
		t.Errorf("kept %d lines", len(report.Stderr))
	}
	if got.n != floodBytes || report.StderrDropped != 0 {
		t.Errorf("%d bytes written and %d dropped of %d, though the writer is fast", got.n, report.StderrDropped, floodBytes)
	}
}

func TestStderrIsForwardedRaw(t *testing.T) {
	var got bytes.Buffer
	p := start(t, childCommand("complain"), processOptions{Stderr: &got})
	within(t, "exited", p.exited)
	if want := "starting\n\n\x1b[31mno licence\x1b[0m\r\nbye"; got.String() != want {
		t.Errorf("the writer got %q, want %q", got.String(), want)
	}
}

func TestStderrWriterThatBlocksOrFailsDoesNotHoldTheChildBack(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	writers := map[string]struct {
		w    io.Writer
		most int64 // bytes that may count as written
	}{
		"blocks": {blockedWriter{release}, stderrQueued*32<<10 + 32<<10},
		"fails":  {failingWriter{}, 0},
	}
	for name, test := range writers {
		t.Run(name, func(t *testing.T) {
			p := start(t, childCommand("flood"), processOptions{Stderr: test.w, CloseGrace: ample})
			if got := readLine(t, stdoutOf(p)); got != "ready" {
				t.Fatalf("the child did not get rid of its stderr: %q", got)
			}
			doing(t, "stop", func() { p.stop(t.Context()) })
			if dropped := p.exit().StderrDropped; dropped < floodBytes-test.most {
				t.Errorf("%d bytes counted as dropped of %d", dropped, floodBytes)
			}
		})
	}
}

type countingWriter struct{ n int }

func (w *countingWriter) Write(b []byte) (int, error) { w.n += len(b); return len(b), nil }

type blockedWriter struct{ release chan struct{} }

func (w blockedWriter) Write(b []byte) (int, error) { <-w.release; return len(b), nil }

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no") }
