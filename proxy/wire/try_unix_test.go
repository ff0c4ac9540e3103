//go:build unix

package wire

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Whoever shares a pipe may make it a waiting one; a try is to come back all the same.
// Where it would not, the test does not end.
func TestPlainTryNeverWaits(t *testing.T) {
	_, w := pipe(t)
	raw := nonBlocking(w)
	if raw == nil {
		t.Fatal("a pipe of Go's is in blocking mode")
	}
	try, much := plainTry(raw), make([]byte, 1<<20)
	if err := raw.Control(func(fd uintptr) { _ = unix.SetNonblock(int(fd), false) }); err != nil {
		t.Fatal(err)
	}
	if n := try(much); n == 0 || n == len(much) {
		t.Errorf("an empty pipe took %d bytes of %d", n, len(much))
	}
	if n := try(much); n != 0 {
		t.Errorf("a full pipe took %d bytes", n)
	}
	if nonBlocking(w) == nil {
		t.Error("the pipe is in blocking mode")
	}
}
