package wire

import (
	"bytes"
	"io"
)

// maxExpected is how far a length is believed before the text is there, in bytes.
const maxExpected = 128 << 10

// ReadAll is io.ReadAll for a body of that length, as its header has it; negative where
// that is unknown. With an error it returns what came before.
func ReadAll(r io.Reader, length int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, min(max(length, 0), maxExpected)+bytes.MinRead))
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}
