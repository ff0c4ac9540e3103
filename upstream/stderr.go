package upstream

import (
	"bytes"
	"io"
	"os"
	"unicode/utf8"
)

const (
	stderrKeptLines = 20
	stderrLineBytes = 500
)

// stderrLog reads a child's stderr until its end, whatever happens to what is read: a child that blocks on a full stderr
// is a server that hangs. It keeps the last lines and forwards the bytes as they are.
type stderrLog struct {
	in   *outputReader
	out  *stderrForwarder // nil: nowhere
	tail stderrTail       // of the draining goroutine until done is closed
	done chan struct{}
}

func newStderrLog(in *os.File, out io.Writer) *stderrLog {
	s := &stderrLog{in: newOutputReader(in), done: make(chan struct{})}
	if out != nil {
		s.out = newStderrForwarder(out)
	}
	return s
}

// drain runs on a goroutine of its own, which process.finish waits for.
func (s *stderrLog) drain() {
	defer close(s.done)
	if s.out != nil {
		go s.out.run()
		defer s.out.finish()
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := s.in.Read(buf)
		s.tail.add(buf[:n])
		if s.out != nil && n > 0 {
			s.out.send(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// dropped counts the bytes that were not forwarded; final once done is closed, unless the writer is still stuck.
func (s *stderrLog) dropped() int64 {
	if s.out == nil {
		return 0
	}
	return s.out.dropped.Load()
}

// stderrTail keeps the last lines that are not blank, each cut, in bounded memory even if no line ever ends.
type stderrTail struct {
	kept []string
	line []byte // the unfinished line, cut
	cut  bool
}

func (t *stderrTail) add(b []byte) {
	for {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		t.extend(line)
		if !ended {
			return
		}
		t.end()
		b = rest
	}
}

func (t *stderrTail) extend(b []byte) {
	room := stderrLineBytes - len(t.line)
	t.cut = t.cut || len(b) > room
	t.line = append(t.line, b[:min(len(b), room)]...)
}

func (t *stderrTail) end() {
	if line := t.text(); line != "" {
		t.kept = append(t.kept, line)
		t.kept = t.kept[max(0, len(t.kept)-stderrKeptLines):]
	}
	t.line, t.cut = t.line[:0], false
}

// text is the unfinished line as it will be shown: "" if it is blank, and never half a character at the cut.
func (t *stderrTail) text() string {
	if len(bytes.TrimSpace(t.line)) == 0 {
		return ""
	}
	if !t.cut {
		return string(bytes.TrimRight(t.line, "\r"))
	}
	return string(wholeRunes(t.line)) + "…"
}

func wholeRunes(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			return b
		}
	}
	return b
}

// lines returns what is kept, an unfinished last line included.
func (t *stderrTail) lines() []string {
	lines := append([]string(nil), t.kept...)
	if line := t.text(); line != "" {
		lines = append(lines, line)
	}
	return lines[max(0, len(lines)-stderrKeptLines):]
}
