//go:build unix && !linux

package wire

import "io"

// tryWriter returns a function that writes as much as w takes without waiting,
// or nil if w cannot be asked that: it must be a file in non-blocking mode.
func tryWriter(w io.Writer) func([]byte) int {
	raw := nonBlocking(w)
	if raw == nil {
		return nil
	}
	return plainTry(raw)
}
