//go:build unix && !linux

package wire

import (
	"io"
	"syscall"
)

// tryWriter returns a function that writes as much as w takes without waiting,
// or nil if w cannot be asked that: it must be a file in non-blocking mode.
func tryWriter(w io.Writer) func([]byte) int {
	raw := nonBlocking(w)
	if raw == nil {
		return nil
	}
	return func(b []byte) (n int) {
		_ = raw.Write(func(fd uintptr) bool {
			n, _ = syscall.Write(int(fd), b)
			return true // also where it would block: the rest is for the goroutine
		})
		return max(n, 0) // an error shows again when the goroutine writes
	}
}
