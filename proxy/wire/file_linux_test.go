package wire

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// countedReader counts the calls that come to it.
type countedReader struct {
	io.Reader
	calls int
}

func (r *countedReader) Read(b []byte) (int, error) {
	r.calls++
	return r.Reader.Read(b)
}

// The other way reads the same: only the processor would notice.
func TestFileReaderDoesNotReadTheOtherWay(t *testing.T) {
	const messages = 100
	r, w := pipe(t)
	if !readsWithoutWaiting(t, r, w) {
		t.Skip("this kernel cannot read a pipe without waiting, as Linux can from 6.4 on")
	}
	written := make(chan error, 1)
	go func() {
		for range messages - 1 {
			_, _ = w.Write([]byte("x"))
		}
		_, err := w.Write([]byte("x"))
		written <- err
	}()
	otherwise := &countedReader{Reader: r}
	in := FileReader(r, otherwise)
	for range messages {
		if _, err := in.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-written; err != nil || otherwise.calls != 0 {
		t.Errorf("%d of %d reads took the other way, error %v", otherwise.calls, messages, err)
	}
}

// readsWithoutWaiting asks the kernel itself.
func readsWithoutWaiting(t *testing.T, r, w *os.File) bool {
	t.Helper()
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	raw, err := r.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	err = raw.Read(func(fd uintptr) bool {
		n, _ = unix.Preadv2(int(fd), [][]byte{make([]byte, 1)}, -1, unix.RWF_NOWAIT)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}
