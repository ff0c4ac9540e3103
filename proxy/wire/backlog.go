package wire

import "bytes"

// backlog is what waits to be written, in order. Short pieces are copied
// together; long ones stay where they are, and nobody may change them.
type backlog struct {
	parts [][]byte
	size  int
	grows bool   // the last part is memory of the backlog's own
	spare []byte // for the next such part
}

const (
	longPiece = 64 << 10
	maxSpare  = 256 << 10
)

// add puts a piece of a line behind the rest, with spaces for newlines.
func (b *backlog) add(piece []byte) {
	if len(piece) > longPiece && bytes.IndexByte(piece, '\n') < 0 {
		b.parts, b.size, b.grows = append(b.parts, piece), b.size+len(piece), false
		return
	}
	joinLines(b.copy(piece))
}

// copy returns the copy.
func (b *backlog) copy(piece []byte) []byte {
	if !b.grows {
		b.parts, b.spare, b.grows = append(b.parts, b.spare[:0]), nil, true
	}
	last := &b.parts[len(b.parts)-1]
	from := len(*last)
	*last = append(*last, piece...)
	b.size += len(piece)
	return (*last)[from:]
}

// take writes with try, which says how much of a part it took, until it takes less.
func (b *backlog) take(try func([]byte) int) {
	for len(b.parts) > 0 {
		part := b.parts[0]
		n := try(part)
		b.size -= n
		if n < len(part) {
			b.parts[0] = part[n:]
			return
		}
		b.drop()
	}
}

// drop lets go of the first part, which has been written.
func (b *backlog) drop() {
	part, last := b.parts[0], len(b.parts) == 1
	copy(b.parts, b.parts[1:])
	b.parts[len(b.parts)-1] = nil
	b.parts = b.parts[:len(b.parts)-1]
	if last && b.grows {
		b.grows = false
		b.keep(part)
	}
}

func (b *backlog) keep(part []byte) {
	if cap(part) <= maxSpare {
		b.spare = part[:0]
	}
}

func joinLines(b []byte) {
	for i := bytes.IndexByte(b, '\n'); i >= 0; i = bytes.IndexByte(b, '\n') {
		b[i], b = ' ', b[i+1:]
	}
}
