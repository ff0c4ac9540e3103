package wire

import (
	"bytes"
	"io"
)

// maxExpected is the longest length that is believed before the text is there, in bytes:
// to claim one costs a peer no more than a connection.
const maxExpected = 64 << 10

// ReadAll is io.ReadAll for a body of that length, as its header has it; negative where
// that is unknown. With an error it returns what came before.
func ReadAll(r io.Reader, length int64) ([]byte, error) {
	if length < 0 || length > maxExpected {
		return io.ReadAll(r)
	}
	b := bytes.NewBuffer(make([]byte, 0, length+bytes.MinRead))
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}
