package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// SSEEvent is one event of an event stream (WHATWG HTML, Server-sent events).
type SSEEvent struct {
	// Type is the event field; "" means the usual, which is "message".
	Type string
	// Data is the bytes of the data lines, joined by \n, in memory of its own;
	// empty also where there was no such line.
	Data []byte
	// ID is the id field; nil if there was none, which is not the same as an
	// empty one.
	ID []byte
	// Retry is the retry field; negative if there was none.
	Retry time.Duration
}

// SSEReader takes an event stream apart. One goroutine may use it. Lines end
// with \n, \r or \r\n and nothing else: U+2028, U+2029 and U+0085 are data.
type SSEReader struct {
	buf    *bufio.Reader
	limit  int
	begun  bool // the byte order mark is behind us
	halfCR bool // the last line ended with \r, to which a \n may belong
}

// NewSSEReader reads from r. Data of more than limit bytes is not kept in
// memory.
func NewSSEReader(r io.Reader, limit int) *SSEReader {
	return &SSEReader{buf: bufio.NewReaderSize(r, 32<<10), limit: limit}
}

// Next returns the next event that has any field, be it without data: an id or
// a retry alone counts too. An event whose data is too long is reported as a
// *TooLongError, beside what else it has, and the next call goes on behind it.
// Any other error is the input's, io.EOF at its end; an event that it cut off
// is dropped.
func (r *SSEReader) Next() (SSEEvent, error) {
	e := sseBuilder{event: SSEEvent{Retry: -1}, limit: r.limit}
	for {
		blank, err := r.line(&e)
		if err != nil {
			return SSEEvent{Retry: -1}, err
		}
		if blank && e.any {
			return e.result()
		}
	}
}

// line reads one line into e. One that is longer than the buffer comes in
// pieces, of which the first names the field.
func (r *SSEReader) line(e *sseBuilder) (blank bool, err error) {
	piece, ended, err := r.piece()
	if err != nil {
		return false, err
	}
	if !r.begun {
		r.begun, piece = true, bytes.TrimPrefix(piece, []byte("\ufeff"))
	}
	if ended && len(piece) == 0 {
		return true, nil
	}
	isData := e.field(piece, ended)
	for !ended {
		if piece, ended, err = r.piece(); err != nil {
			return false, err
		}
		if isData {
			e.add(piece)
		}
	}
	return false, nil
}

// piece returns the rest of the current line without its end, or a buffer full
// of it. It is valid until the next call.
func (r *SSEReader) piece() (piece []byte, ended bool, err error) {
	if err := r.finishCR(); err != nil {
		return nil, false, err
	}
	for seen := 0; ; {
		buffered, err := r.more(seen)
		if i := lineEnd(buffered[seen:]); i >= 0 {
			piece = buffered[:seen+i]
			r.halfCR = buffered[seen+i] == '\r'
			_, _ = r.buf.Discard(seen + i + 1)
			return piece, true, nil
		}
		seen = len(buffered)
		if errors.Is(err, bufio.ErrBufferFull) {
			_, _ = r.buf.Discard(seen)
			return buffered, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// lineEnd is where the first line ends, -1 if none does. IndexByte is several times
// faster than IndexAny; it looks at a window at a time, so that text whose lines all end
// in the same way is not searched for the other again and again.
func lineEnd(b []byte) int {
	for at := 0; at < len(b); at += window {
		piece := b[at:min(at+window, len(b))]
		text := before(before(piece, '\n'), '\r')
		if len(text) < len(piece) {
			return at + len(text)
		}
	}
	return -1
}

// more returns what is buffered, which is more than seen unless there is an
// error.
func (r *SSEReader) more(seen int) ([]byte, error) {
	if r.buf.Buffered() > seen {
		return r.buf.Peek(r.buf.Buffered())
	}
	_, err := r.buf.Peek(seen + 1)
	buffered, _ := r.buf.Peek(r.buf.Buffered())
	return buffered, err
}

// finishCR drops the \n of a \r\n. It is left until now, so that a line which
// ends with \r alone is not kept waiting for what comes after it.
func (r *SSEReader) finishCR() error {
	if !r.halfCR {
		return nil
	}
	next, err := r.buf.Peek(1)
	if err != nil {
		return err
	}
	if r.halfCR = false; next[0] == '\n' {
		_, _ = r.buf.Discard(1)
	}
	return nil
}

// sseBuilder gathers the fields of one event.
type sseBuilder struct {
	event SSEEvent
	limit int
	any   bool
	lines int           // of data
	long  *TooLongError // takes the data once it is over the limit
}

// field takes a line, or its first piece. It reports whether the line is data,
// the only field of which what does not fit into one piece is kept.
func (e *sseBuilder) field(line []byte, whole bool) (isData bool) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		if e.lines > 0 {
			e.add([]byte{'\n'})
		}
		e.lines++
		e.add(value)
		isData = true
	case "event", "id", "retry":
		if !whole || !e.set(string(name), value) {
			return false
		}
	default:
		return false // a comment, or nothing that we know
	}
	e.any = true
	return isData
}

func (e *sseBuilder) set(name string, value []byte) bool {
	switch name {
	case "event":
		e.event.Type = string(value)
	case "id":
		if bytes.IndexByte(value, 0) >= 0 {
			return false
		}
		e.event.ID = append([]byte{}, value...)
	case "retry":
		ms, err := strconv.ParseUint(string(value), 10, 32)
		if err != nil {
			return false
		}
		e.event.Retry = time.Duration(ms) * time.Millisecond
	}
	return true
}

func (e *sseBuilder) add(piece []byte) {
	if e.long == nil && len(e.event.Data)+len(piece) <= e.limit {
		e.event.Data = append(e.event.Data, piece...)
		return
	}
	if e.long == nil {
		e.long = &TooLongError{Limit: e.limit}
		e.long.Head = bytes.Clone(e.event.Data[:min(len(e.event.Data), keptOfLong)])
		e.long.add(e.event.Data)
		e.event.Data = nil
	}
	e.long.Head = append(e.long.Head, piece[:min(len(piece), keptOfLong-len(e.long.Head))]...)
	e.long.add(piece)
}

func (e *sseBuilder) result() (SSEEvent, error) {
	if e.long != nil {
		e.long.Tail = lastBytes(e.long.Tail)
		return e.event, e.long
	}
	return e.event, nil
}
