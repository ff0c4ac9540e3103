package wire

import (
	"errors"
	"io"
	"sync"
	"time"
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
	change  sync.Cond   // any of the fields below
	writing int         // bytes that the goroutine is at
	holds   int         // how many say that more lines are to come at once
	late    *time.Timer // releases what is held for longest; nil if it may be held for any time
	longest time.Duration
	due     bool // what is pending is to be written all the same
	pending backlog
	spare   []byte // of the batch written last
	closed  bool
	err     error
}

const (
	maxPending = 4 << 20
	maxOffered = 64 << 20
	maxHeld    = 64 << 10
)

// NewLineWriter writes to w until Close is called or w fails.
func NewLineWriter(w io.Writer) *LineWriter {
	lw := &LineWriter{w: w, try: tryWriter(w), done: make(chan struct{})}
	lw.change.L = &lw.mu
	go lw.run()
	return lw
}

// WriteMessage queues a message and a newline behind every one given before, and
// copies no more of it than it must. Newlines in it, white space between the tokens
// of JSON, become spaces: a message must hold none (revision 2026-07-28, stdio). An
// error means that this message will not be written: the writer is closed or w has
// failed. Nil does not mean that it has been.
func (lw *LineWriter) WriteMessage(m Message) error {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	for !lw.ended() && lw.backlog() > maxPending {
		lw.change.Wait()
	}
	return lw.queue(m)
}

// OfferMessage is WriteMessage for whoever must not wait: with more than maxOffered
// bytes pending the message is refused with ErrFull.
func (lw *LineWriter) OfferMessage(m Message) error {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	if !lw.ended() && lw.backlog() > maxOffered {
		return ErrFull
	}
	return lw.queue(m)
}

// ErrFull is the error of [LineWriter.OfferMessage] for a peer that does not read.
var ErrFull = errors.New("the receiver does not read what was sent before")

func (lw *LineWriter) add(m Message) {
	var room [maxPieces][]byte
	for _, piece := range m.pieces(room[:0]) {
		lw.pending.add(piece)
	}
}

func (lw *LineWriter) queue(m Message) error {
	if lw.closed {
		return io.ErrClosedPipe
	}
	if lw.err != nil {
		return lw.err
	}
	first := lw.pending.size == 0
	lw.add(m)
	lw.pending.copy(newline)
	switch {
	case lw.holds == 0 || lw.pending.size > maxHeld:
		lw.release(first)
	case first && lw.late != nil:
		lw.late.Reset(lw.longest)
	}
	return nil
}

var newline = []byte{'\n'}

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
	if lw.holds = max(lw.holds-1, 0); lw.holds == 0 && lw.pending.size > 0 && !lw.ended() {
		lw.release(true)
		lw.change.Broadcast() // it may have made room
	}
}

// HoldAtMost bounds how long a line is held: those who say that more are to come may
// follow each other without a pause, or be kept from going on. Call it before any line
// is written.
func (lw *LineWriter) HoldAtMost(longest time.Duration) {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	lw.longest = longest
	lw.late = time.AfterFunc(longest, lw.overdue)
}

func (lw *LineWriter) overdue() {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	if lw.pending.size > 0 && !lw.ended() {
		lw.release(true)
		lw.change.Broadcast() // it may have made room
	}
}

// release writes what is pending; what has nothing before it, at once, which
// spares it the way through the goroutine.
func (lw *LineWriter) release(first bool) {
	if first && lw.writing == 0 && lw.try != nil {
		lw.pending.take(lw.try)
	}
	if lw.due = lw.pending.size > 0; lw.due {
		lw.change.Broadcast()
	}
}

// Close writes what is queued, ends the goroutine and waits for it. It returns
// the error of w, if it had one. To end a write that does not return, close
// what is under w first.
func (lw *LineWriter) Close() error {
	lw.mu.Lock()
	lw.closed = true
	if lw.late != nil {
		lw.late.Stop() // when it is late all the same it finds the writer closed
	}
	lw.change.Broadcast()
	lw.mu.Unlock()
	<-lw.done
	return lw.err
}

// backlog is what the peer has not taken yet.
func (lw *LineWriter) backlog() int { return lw.pending.size + lw.writing }

func (lw *LineWriter) ended() bool { return lw.closed || lw.err != nil }

func (lw *LineWriter) run() {
	defer close(lw.done)
	for {
		batch := lw.next()
		if batch.size == 0 {
			return
		}
		lw.written(batch, lw.send(batch))
	}
}

func (lw *LineWriter) send(batch backlog) error {
	for _, part := range batch.parts {
		if _, err := lw.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// next waits for something to write; nothing means that there is no more.
func (lw *LineWriter) next() backlog {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	for lw.idle() && !lw.ended() {
		lw.change.Wait()
	}
	if lw.pending.size == 0 || lw.err != nil {
		return backlog{}
	}
	batch := lw.pending
	lw.pending, lw.writing, lw.due = backlog{spare: lw.spare}, batch.size, false
	lw.spare = nil
	return batch
}

func (lw *LineWriter) idle() bool {
	return lw.pending.size == 0 || lw.holds > 0 && !lw.due
}

func (lw *LineWriter) written(batch backlog, err error) {
	lw.mu.Lock()
	defer lw.mu.Unlock()
	if batch.grows {
		batch.keep(batch.parts[len(batch.parts)-1])
	}
	lw.spare, lw.err, lw.writing = batch.spare, err, 0
	lw.change.Broadcast()
}
