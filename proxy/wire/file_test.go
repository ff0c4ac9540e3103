package wire

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// A file is read through FileReader as it is without it: whole, to its end, and
// with the same errors.
func TestFileReaderReadsAll(t *testing.T) {
	r, w := pipe(t)
	text := bytes.Repeat([]byte("0123456789"), 50_000)
	written := make(chan error, 1)
	go func() {
		_, err := w.Write(text)
		written <- errors.Join(err, w.Close())
	}()
	got, err := io.ReadAll(FileReader(r, r))
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes of %d came, and error %v", len(got), len(text), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestFileReaderHearsOfDeadlineAndClose(t *testing.T) {
	for _, way := range []struct {
		name string
		end  func(*os.File) error
		want error
	}{
		{"deadline before", func(f *os.File) error { return f.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		{"closed before", (*os.File).Close, os.ErrClosed},
	} {
		t.Run(way.name, func(t *testing.T) {
			r, _ := pipe(t)
			in := FileReader(r, r)
			if err := way.end(r); err != nil {
				t.Fatal(err)
			}
			if n, err := in.Read(make([]byte, 10)); n != 0 || !errors.Is(err, way.want) {
				t.Errorf("read %d, error %v", n, err)
			}
		})
	}
}

// What ends a read that waits already.
func TestFileReaderIsInterrupted(t *testing.T) {
	for name, end := range map[string]func(*os.File) error{
		"deadline": func(f *os.File) error { return f.SetReadDeadline(time.Now()) },
		"closed":   (*os.File).Close,
	} {
		t.Run(name, func(t *testing.T) {
			r, w := pipe(t)
			in, read := FileReader(r, r), make(chan error)
			for range 2 {
				go func() {
					_, err := in.Read(make([]byte, 1))
					read <- err
				}()
				if _, err := w.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				if err := <-read; err != nil {
					t.Fatal(err)
				}
			}
			go func() {
				_, err := in.Read(make([]byte, 1))
				read <- err
			}()
			if err := end(r); err != nil {
				t.Fatal(err)
			}
			if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, os.ErrClosed) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}
