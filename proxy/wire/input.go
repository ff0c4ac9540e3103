package wire

import (
	"bytes"
	"io"
)

// input holds what has been read and not taken yet. It grows with a line that is
// longer than it, and hands such a line over with its own memory.
type input struct {
	r     io.Reader
	limit int    // of a line
	buf   []byte // it is in buf[from:to]
	small []byte // buf, before it grew
	from  int
	to    int
	seen  int   // how far behind from there is no newline
	long  int   // how long the last line was for which it grew
	err   error // of r, once what came with it has been looked at
}

const inputSize = 64 << 10

func newInput(r io.Reader, limit int) input {
	buf := make([]byte, inputSize)
	return input{r: r, limit: limit, buf: buf, small: buf}
}

// line returns the next line with its end, if whole; else what there is of it.
func (in *input) line() (part []byte, whole bool) {
	rest := in.buf[in.from:in.to]
	if n := bytes.IndexByte(rest[in.seen:], '\n'); n >= 0 {
		return rest[:in.seen+n+1], true
	}
	in.seen = len(rest)
	return rest, false
}

// fill reads something, behind what there is.
func (in *input) fill() error {
	if in.from > 0 {
		in.to, in.from = copy(in.buf, in.buf[in.from:in.to]), 0
	}
	if in.to == len(in.buf) {
		in.grow()
	}
	for n := 0; n == 0 && in.err == nil; {
		n, in.err = in.r.Read(in.buf[in.to:])
		if in.to += n; n > 0 {
			return nil
		}
	}
	err := in.err
	in.err = nil
	return err
}

// grow makes room for twice as much, or a line a little longer than the last long
// one; but not for more than a line that is too long.
func (in *input) grow() {
	size := max(2*len(in.buf), in.long+in.long/8)
	buf := make([]byte, max(min(size, in.limit+keptOfLong), len(in.buf)+keptOfLong))
	copy(buf, in.buf[:in.to])
	in.buf = buf
}

// take returns the first n bytes of the line part, in memory of their own.
func (in *input) take(part []byte, n int) []byte {
	line, grown := part[:n:n], len(in.buf) > len(in.small)
	in.drop(len(part))
	if !grown {
		return bytes.Clone(line)
	}
	in.long = n
	if n < len(in.buf)/2 {
		line = bytes.Clone(line)
		if in.to-in.from > len(in.small) { // many short lines are behind a long one
			return line
		}
	}
	in.move()
	return line
}

// move leaves the memory to whoever has it now.
func (in *input) move() {
	rest := in.buf[in.from:in.to]
	if in.buf = in.small; len(rest) > len(in.buf) {
		in.buf = make([]byte, len(rest)+keptOfLong)
	}
	in.from, in.to = 0, copy(in.buf, rest)
}

// shrink lets go of the memory of a long line that nobody takes.
func (in *input) shrink() {
	if len(in.buf) > len(in.small) {
		in.move()
	}
}

func (in *input) drop(n int) { in.from, in.seen = in.from+n, 0 }
