package wire

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Each line has memory of its own, however it is read.
func TestLinesOfAllLengthsKeepTheirText(t *testing.T) {
	const k = 1 << 10
	sizes := []int{1, 64*k - 1, 64 * k, 64*k + 1, 3, 300 * k, 300*k + 40, 70 * k, 5, 5, 1000 * k, 7, 64 * k, 200 * k, 1}
	var want []string
	for i, size := range sizes {
		want = append(want, strings.Repeat(string(rune('a'+i)), size))
		want = append(want, strings.Split(strings.Repeat("{}\n", size/20)+"{}", "\n")...) // many short ones behind it
	}
	text := strings.Join(want, "\n")
	for name, r := range map[string]io.Reader{
		"at once": strings.NewReader(text), "in halves": iotest.HalfReader(strings.NewReader(text)), "with the error": iotest.DataErrReader(strings.NewReader(text)),
	} {
		lines := NewLineReader(r, 1<<20)
		var got [][]byte
		for {
			line, err := lines.Next()
			if err != nil {
				break
			}
			got = append(got, line)
		}
		for i := range want {
			if i >= len(got) || string(got[i]) != want[i] {
				t.Fatalf("%s: line %d of %d bytes is another", name, i, len(want[i]))
			}
		}
	}
}
