package wire

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// LineReader reads newline-delimited messages (revision 2026-07-28, stdio).
// One goroutine may use it. Lines end with \n or \r\n; those that hold only
// white space are passed over.
type LineReader struct {
	in    input
	limit int
	more  func(bool)
	said  bool // what more was told last
}

// NewLineReader reads from r. A line longer than limit bytes is not kept in
// memory: Next reports it as a *TooLongError and goes on behind it.
func NewLineReader(r io.Reader, limit int) *LineReader {
	if f, ok := r.(*os.File); ok {
		r = FileReader(f, f)
	}
	return &LineReader{in: newInput(r, limit), limit: limit, more: func(bool) {}}
}

// OnMore has more called with true when Next returns a line and another is
// there already, and with false before the reader waits for one. Both calls
// come from the goroutine that uses the reader, and alternate.
func (r *LineReader) OnMore(more func(bool)) { r.more = more }

func (r *LineReader) say(more bool) {
	if r.said != more {
		r.said = more
		r.more(more)
	}
}

// Next returns the next line without its end, in memory of its own. At the end
// of the input the error is io.EOF; a last line without a newline counts.
func (r *LineReader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if len(bytes.TrimSpace(line)) > 0 && (err == nil || err == io.EOF) {
			if _, whole := r.in.line(); whole { // another one is there already
				r.say(true)
			}
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// line returns the next line, blank or not; with io.EOF, what stood behind the
// last newline.
func (r *LineReader) line() ([]byte, error) {
	for {
		part, whole := r.in.line()
		switch text := withoutEnd(part); {
		case len(text) > r.limit:
			return nil, r.skip(part, whole)
		case whole:
			return r.in.take(part, len(text)), nil
		}
		if err := r.fill(); err != nil {
			part, _ = r.in.line()
			return r.in.take(part, len(withoutEnd(part))), err
		}
	}
}

// fill may have to wait.
func (r *LineReader) fill() error {
	r.say(false)
	return r.in.fill()
}

// skip reads what is left of a line that is too long, of which there is part.
func (r *LineReader) skip(part []byte, whole bool) (err error) {
	e := &TooLongError{Limit: r.limit, Head: bytes.Clone(part[:min(len(part), keptOfLong)])}
	for {
		e.add(part)
		r.in.drop(len(part))
		if whole || err != nil {
			break
		}
		err = r.fill()
		part, whole = r.in.line()
	}
	r.in.shrink()
	if !whole && err != io.EOF {
		return err
	}
	text := withoutEnd(e.Tail)
	e.Size -= int64(len(e.Tail) - len(text))
	e.Tail = lastBytes(text)
	if !whole {
		e.Tail = nil // perhaps cut off, so its end may be amid the message
	}
	return e
}

// keptOfLong is how much of each end of a line that is too long is kept.
const keptOfLong = 4 << 10

func lastBytes(b []byte) []byte { return b[max(0, len(b)-keptOfLong):] }

func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// TooLongError reports a message of Size bytes, over the Limit. Head and Tail
// are what is left of it, for [TooLongError.ID] to say whom it concerned.
type TooLongError struct {
	Limit      int
	Size       int64
	Head, Tail []byte
}

// add appends a piece to Tail without letting it grow with the message: it keeps
// up to twice as much as is left in the end.
func (e *TooLongError) add(piece []byte) {
	e.Size += int64(len(piece))
	if len(piece) >= keptOfLong {
		e.Tail = e.Tail[:0]
	}
	e.Tail = append(e.Tail, lastBytes(piece)...)
	if len(e.Tail) > 2*keptOfLong { // of short pieces there can be many
		e.Tail = append(e.Tail[:0], lastBytes(e.Tail)...)
	}
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a message of %d bytes is over the limit of %d bytes", e.Size, e.Limit)
}
