package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestConcurrentLinesStayWholeAndInOrder(t *testing.T) {
	const writers, lines = 8, 400
	var out bytes.Buffer
	w := NewLineWriter(&out)
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			for i := range lines {
				if err := w.WriteMessage(Message{raw: fmt.Appendf(nil, "%d %d %s", n, i, strings.Repeat("x", i))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var next [writers]int
	for line := range strings.Lines(out.String()) {
		var n int
		fmt.Sscan(line, &n)
		if want := fmt.Sprintf("%d %d %s\n", n, next[n], strings.Repeat("x", next[n])); line != want {
			t.Fatalf("got %q, want %q", line, want)
		}
		next[n]++
	}
	for n, count := range next {
		if count != lines {
			t.Errorf("writer %d: %d lines of %d", n, count, lines)
		}
	}
}

func TestLineIsCopiedAndHoldsNoNewline(t *testing.T) {
	var out bytes.Buffer
	w := NewLineWriter(&out)
	line := []byte("{\n  \"a\": 1,\r\n\n  \"b\": \"\\n\"}\n")
	before := string(line)
	if err := w.WriteMessage(Message{raw: line}); err != nil || string(line) != before {
		t.Fatalf("WriteMessage = %v, the input became %q", err, line)
	}
	clear(line)
	w.WriteMessage(Message{raw: []byte("{}")})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "{   \"a\": 1,\r    \"b\": \"\\n\"} \n{}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCloseLosesNothingAndMayBeRepeated(t *testing.T) {
	r, pipe := io.Pipe()
	w := NewLineWriter(pipe)
	for range 100 {
		w.WriteMessage(Message{raw: []byte("{}")})
	}
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() { w.Close(); pipe.Close() })
	}
	got, err := io.ReadAll(r)
	closing.Wait()
	if string(got) != strings.Repeat("{}\n", 100) || err != nil {
		t.Errorf("%d bytes arrived, %v", len(got), err)
	}
	if err := w.WriteMessage(Message{raw: []byte("{}")}); err != io.ErrClosedPipe {
		t.Errorf("WriteMessage after Close = %v", err)
	}
}

func TestFailureOfThePipeReachesEveryWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		r, pipe := io.Pipe()
		r.CloseWithError(broken)
		w := NewLineWriter(pipe)
		if err := w.WriteMessage(Message{raw: []byte("{}")}); err != nil {
			t.Errorf("the first WriteMessage = %v", err)
		}
		synctest.Wait()
		for range 2 {
			if err := w.WriteMessage(Message{raw: []byte("{}")}); err != broken {
				t.Errorf("WriteMessage = %v", err)
			}
		}
		for range 2 {
			if err := w.Close(); err != broken {
				t.Errorf("Close = %v", err)
			}
		}
	})
}

// stuck writes lines of 1 MB to a pipe that nobody reads until WriteMessage
// blocks, and then lets end release it. It returns what WriteMessage said last.
func stuck(t *testing.T, end func(w *LineWriter, pipe *io.PipeReader)) (last error) {
	t.Helper()
	r, pipe := io.Pipe()
	w := NewLineWriter(pipe)
	var count atomic.Int64
	var writing sync.WaitGroup
	writing.Go(func() {
		line := bytes.Repeat([]byte("x"), 1<<20)
		for last = w.WriteMessage(Message{raw: line}); last == nil; last = w.WriteMessage(Message{raw: line}) {
			count.Add(1)
		}
	})
	synctest.Wait()
	// Up to maxPending and the line that passes it wait, and as much again is
	// in the write that does not return.
	if n := count.Load(); n < maxPending>>20 || n > 2*(maxPending>>20+1) {
		t.Errorf("%d MB were taken", n)
	}
	end(w, r)
	writing.Wait()
	return last
}

func TestPeerThatNeverReadsBlocksOnlyBeyondTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := stuck(t, func(w *LineWriter, pipe *io.PipeReader) {
			pipe.Close()
			if err := w.Close(); err != io.ErrClosedPipe {
				t.Errorf("Close = %v", err)
			}
		})
		if err != io.ErrClosedPipe {
			t.Errorf("the blocked WriteMessage = %v", err)
		}
	})
}

func TestPeerThatReadsAgainReleasesTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taken int64
		stuck(t, func(w *LineWriter, pipe *io.PipeReader) {
			var reading sync.WaitGroup
			reading.Go(func() { taken, _ = io.Copy(io.Discard, io.LimitReader(pipe, 64<<20)); pipe.Close() })
			reading.Wait()
			w.Close()
		})
		if taken != 64<<20 {
			t.Errorf("%d bytes arrived", taken)
		}
	})
}

func TestCloseWaitsForAStuckWriteAndFreesTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := stuck(t, func(w *LineWriter, pipe *io.PipeReader) {
			var closed atomic.Bool
			var closing sync.WaitGroup
			closing.Go(func() { w.Close(); closed.Store(true) })
			synctest.Wait()
			if closed.Load() {
				t.Error("Close did not wait for the write")
			}
			pipe.Close()
			closing.Wait()
		})
		if err != io.ErrClosedPipe {
			t.Errorf("the blocked WriteMessage = %v", err)
		}
	})
}

// pipeWriter is a LineWriter on a pipe of the system, and the end to read from.
func pipeWriter(t *testing.T) (*LineWriter, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	lw := NewLineWriter(w)
	t.Cleanup(func() {
		w.Close()
		r.Close()
		lw.Close()
	})
	return lw, r
}

func TestHeldLinesComeTogether(t *testing.T) {
	lw, r := pipeWriter(t)
	lw.Hold(true)
	lw.Hold(true)
	for _, line := range []string{"a", "b"} {
		if err := lw.WriteMessage(Message{raw: []byte(line)}); err != nil {
			t.Fatal(err)
		}
	}
	lw.Hold(false) // one of two
	if err := lw.WriteMessage(Message{raw: []byte("c")}); err != nil {
		t.Fatal(err)
	}
	lw.Hold(false)
	lw.Hold(false) // once too often does no harm
	b := make([]byte, 100)
	if n, err := r.Read(b); err != nil || string(b[:n]) != "a\nb\nc\n" {
		t.Errorf("one read gave %q, %v; want the three lines", b[:n], err)
	}
}

func TestMuchIsNotHeld(t *testing.T) {
	lw, r := pipeWriter(t)
	lw.Hold(true)
	long := bytes.Repeat([]byte{'x'}, maxHeld+1)
	if err := lw.WriteMessage(Message{raw: long}); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(io.LimitReader(r, int64(len(long)))); err != nil || !bytes.Equal(got, long) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

func TestOfferRefusesWhatWouldGatherWithoutBound(t *testing.T) {
	lw, _ := pipeWriter(t)
	line := bytes.Repeat([]byte{'x'}, 1<<20)
	for range maxOffered/len(line) + 1 {
		if err := lw.OfferMessage(Message{raw: line}); err != nil {
			t.Fatalf("refused too early: %v", err)
		}
	}
	for range 2 { // the pipe has taken less than one line
		if err := lw.OfferMessage(Message{raw: line}); err != nil && !errors.Is(err, ErrFull) {
			t.Fatal(err)
		} else if err != nil {
			return
		}
	}
	t.Error("Offer never refused a line")
}

// Of two who hold in turn there is always one, and one may be kept from going on: by
// a peer that waits for the very line that is held.
func TestLinesAreNotHeldForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		lw := NewLineWriter(w)
		lw.HoldAtMost(time.Millisecond)
		lines := NewLineReader(r, 100)
		lw.Hold(true)
		for i := range 3 {
			begun := time.Now()
			for _, text := range []string{"a", "b"} {
				if err := lw.WriteMessage(Message{raw: []byte(text)}); err != nil {
					t.Fatal(err)
				}
			}
			if line, err := lines.Next(); string(line) != "a" || err != nil || time.Since(begun) != time.Millisecond {
				t.Errorf("%d: got %q, %v after %v", i, line, err, time.Since(begun))
			}
			if line, err := lines.Next(); string(line) != "b" || err != nil {
				t.Errorf("%d: got %q, %v", i, line, err)
			}
			lw.Hold(true)
			lw.Hold(false)
		}
		if err := lw.WriteMessage(Message{raw: []byte("last")}); err != nil {
			t.Fatal(err)
		}
		go lw.Close()
		if line, err := lines.Next(); string(line) != "last" || err != nil {
			t.Errorf("the end is %q, %v", line, err)
		}
	})
}
