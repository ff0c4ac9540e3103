package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// LineReader reads newline-delimited messages (revision 2026-07-28, stdio).
// One goroutine may use it. Lines end with \n or \r\n; those that hold only
// white space are passed over.
type LineReader struct {
	buf   *bufio.Reader
	limit int
	more  func(bool)
	said  bool // what more was told last
	r     io.Reader
}

// NewLineReader reads from r. A line longer than limit bytes is not kept in
// memory: Next reports it as a *TooLongError and goes on behind it.
func NewLineReader(r io.Reader, limit int) *LineReader {
	lr := &LineReader{limit: limit, r: r, more: func(bool) {}}
	lr.buf = bufio.NewReaderSize(waiting{lr}, 64<<10)
	return lr
}

// OnMore has more called with true when Next returns a line and another is
// there already, and with false before the reader waits for one. Both calls
// come from the goroutine that uses the reader, and alternate.
func (r *LineReader) OnMore(more func(bool)) { r.more = more }

// waiting is the input as the buffer sees it: each read may have to wait.
type waiting struct{ *LineReader }

func (w waiting) Read(b []byte) (int, error) {
	w.say(false)
	return w.r.Read(b)
}

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
			if r.buffered() {
				r.say(true)
			}
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// buffered reports whether another line is there already.
func (r *LineReader) buffered() bool {
	buffered, _ := r.buf.Peek(r.buf.Buffered())
	return bytes.IndexByte(buffered, '\n') >= 0
}

// line returns the next line, blank or not; with io.EOF, what stood behind the
// last newline.
func (r *LineReader) line() ([]byte, error) {
	var line []byte
	for {
		chunk, err := r.buf.ReadSlice('\n')
		line = append(line, chunk...)
		if len(withoutEnd(line)) > r.limit {
			return nil, r.skip(line, err)
		}
		if err != bufio.ErrBufferFull {
			return withoutEnd(line), err
		}
	}
}

// skip reads what is left of a line that is too long, of which the last read
// ended with err.
func (r *LineReader) skip(line []byte, err error) error {
	e := &TooLongError{Limit: r.limit, Head: bytes.Clone(line[:min(len(line), keptOfLong)])}
	for e.add(line); err == bufio.ErrBufferFull; e.add(line) {
		line, err = r.buf.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return err
	}
	text := withoutEnd(e.Tail)
	e.Size -= int64(len(e.Tail) - len(text))
	e.Tail = lastBytes(text)
	if err == io.EOF {
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

// add appends a piece to Tail without letting it grow with the message.
func (e *TooLongError) add(piece []byte) {
	e.Size += int64(len(piece))
	if len(piece) >= keptOfLong {
		e.Tail = e.Tail[:0]
	}
	e.Tail = append(e.Tail, lastBytes(piece)...)
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a message of %d bytes is over the limit of %d bytes", e.Size, e.Limit)
}
