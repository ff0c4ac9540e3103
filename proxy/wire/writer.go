package wire

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// LineWriter writes messages as lines, from any number of goroutines. What the
// peer takes at once is written at once; the rest is left to a goroutine of
// the LineWriter's own, which writes in one go whatever has gathered. So a
// peer that is slow to read delays nobody but the messages behind its own,
// until maxPending bytes wait for it; from then on writers wait too.
type LineWriter struct {
	w    io.Writer
	try  func([]byte) int // writes what w takes without waiting; nil if it cannot tell
	done chan struct{}    // closed when the goroutine has ended

	mu      sync.Mutex
	change  sync.Cond // any of the fields below
	writing int       // bytes that the goroutine is at
	holds   int       // how many say that more lines are to come at once
	due     bool      // what is pending is to be written all the same
	pending []byte
	spare   []byte
	closed  bool
	err     error
}

const (
	maxPending = 4 << 20
	maxOffered = 64 << 20
	maxHeld    = 64 << 10
	maxSpare   = 256 << 10
)

// NewLineWriter writes to w until Close is called or w fails.
func NewLineWriter(w io.Writer) *LineWriter {
	lw := &LineWriter{w: w, try: tryWriter(w), done: make(chan struct{})}
	lw.change.L = &lw.mu
	go lw.run()
	return lw
}

// WriteLine queues line and a newline behind every line given before. Newlines
// in it, white space between the tokens of JSON, become spaces: a message must
// hold none (revision 2026-07-28, stdio). An error
// means that this line will not be written: the writer is closed or w has
// failed. Nil does not mean that it has been.
func (lw *LineWriter) WriteLine(line []byte) error {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	for !lw.ended() && lw.backlog() > maxPending {
		lw.change.Wait()
	}
	return lw.queue(line)
}

// Offer is WriteLine for whoever must not wait: with more than maxOffered
// bytes pending the line is refused with ErrFull.
func (lw *LineWriter) Offer(line []byte) error {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	if !lw.ended() && lw.backlog() > maxOffered {
		return ErrFull
	}
	return lw.queue(line)
}

// ErrFull is the error of [LineWriter.Offer] for a peer that does not read.
var ErrFull = errors.New("the receiver does not read what was sent before")

func (lw *LineWriter) queue(line []byte) error {
	if lw.closed {
		return io.ErrClosedPipe
	}
	if lw.err != nil {
		return lw.err
	}
	from := len(lw.pending)
	lw.pending = append(lw.pending, line...)
	joinLines(lw.pending[from:])
	lw.pending = append(lw.pending, '\n')
	if lw.holds == 0 || len(lw.pending) > maxHeld {
		lw.release(from == 0)
	}
	return nil
}

// Hold says whether more lines are to come at once. If so, lines are gathered
// until it is called with false as often, or until there is much to write.
// Whoever calls it with true must call it with false before waiting for
// anything.
func (lw *LineWriter) Hold(more bool) {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	if more {
		lw.holds++
		return
	}
	if lw.holds = max(lw.holds-1, 0); lw.holds == 0 && len(lw.pending) > 0 && !lw.ended() {
		lw.release(true)
	}
}

// release writes what is pending; what has nothing before it, at once.
func (lw *LineWriter) release(first bool) {
	if first && lw.writing == 0 && lw.try != nil {
		lw.writeNow()
	}
	if lw.due = len(lw.pending) > 0; lw.due {
		lw.change.Broadcast()
	}
}

// writeNow spares a message that finds nothing before it the way through the
// goroutine.
func (lw *LineWriter) writeNow() {
	n := lw.try(lw.pending)
	lw.pending = lw.pending[:copy(lw.pending, lw.pending[n:])]
	if cap(lw.pending) > maxSpare && len(lw.pending) == 0 {
		lw.pending = nil
	}
}

func joinLines(b []byte) {
	for i := bytes.IndexByte(b, '\n'); i >= 0; i = bytes.IndexByte(b, '\n') {
		b[i], b = ' ', b[i+1:]
	}
}

// Close writes what is queued, ends the goroutine and waits for it. It returns
// the error of w, if it had one. To end a write that does not return, close
// what is under w first.
func (lw *LineWriter) Close() error {
	lw.mu.Lock()
	lw.closed = true
	lw.change.Broadcast()
	lw.mu.Unlock()
	<-lw.done
	return lw.err
}

// backlog is what the peer has not taken yet.
func (lw *LineWriter) backlog() int { return len(lw.pending) + lw.writing }

func (lw *LineWriter) ended() bool { return lw.closed || lw.err != nil }

func (lw *LineWriter) run() {
	defer close(lw.done)
	for {
		batch := lw.next()
		if batch == nil {
			return
		}
		_, err := lw.w.Write(batch)
		lw.written(batch, err)
	}
}

// next waits for something to write; nil means that there is nothing more.
func (lw *LineWriter) next() []byte {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	for lw.idle() && !lw.ended() {
		lw.change.Wait()
	}
	if len(lw.pending) == 0 || lw.err != nil {
		return nil
	}
	batch := lw.pending
	lw.pending, lw.spare, lw.writing, lw.due = lw.spare[:0], nil, len(batch), false
	return batch
}

func (lw *LineWriter) idle() bool {
	return len(lw.pending) == 0 || lw.holds > 0 && !lw.due
}

func (lw *LineWriter) written(batch []byte, err error) {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	if cap(batch) <= maxSpare {
		lw.spare = batch
	}
	lw.err, lw.writing = err, 0
	lw.change.Broadcast()
}
