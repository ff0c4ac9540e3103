package upstream

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// childPipes are the three pipes to a child: our ends, and its ends until it has them.
type childPipes struct {
	stdin, stdout, stderr *os.File
	child                 []*os.File
}

func newChildPipes() (*childPipes, error) {
	p := &childPipes{}
	for _, ours := range []**os.File{&p.stdin, &p.stdout, &p.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeTheirs()
			p.closeOurs()
			return nil, err
		}
		if ours == &p.stdin {
			r, w = w, r
		}
		*ours, p.child = r, append(p.child, w)
	}
	return p, nil
}

// theirs are the child's stdin, stdout and stderr, in this order.
func (p *childPipes) theirs() []*os.File { return p.child }

func (p *childPipes) closeTheirs() {
	for _, f := range p.child {
		_ = f.Close()
	}
}

func (p *childPipes) closeOurs() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// restLimit is what may still be read from an output once its time is over: more than any pipe holds, so that it only
// stops a survivor that writes without end.
const restLimit = 1 << 20

// outputReader is our end of a child's stdout or stderr. It passes everything on until end of file. After expire it
// waits no longer than lastWords for that, then passes on what the pipe still holds and ends by itself: the pipe of a
// dead child may be held open by something that the child left behind. It closes the file when it ends.
type outputReader struct {
	file *os.File
	in   io.Reader // reads file
	rest int       // read after the deadline; touched by the reader only
}

func newOutputReader(f *os.File) *outputReader {
	return &outputReader{file: f, in: wire.FileReader(f, f)}
}

// expire is called once, from any goroutine, when the child is gone. Where pipes know no deadline (Windows) the end comes
// from the job object, which ends whatever holds the pipe.
func (r *outputReader) expire() { _ = r.file.SetReadDeadline(time.Now().Add(lastWords)) }

func (r *outputReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		n, err = r.readRest(b)
	}
	if err == nil {
		return n, nil
	}
	_ = r.file.Close()
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	return n, err
}

// readRest goes around the deadline, which would refuse bytes that were there in time for a reader that came late.
func (r *outputReader) readRest(b []byte) (int, error) {
	if r.rest >= restLimit {
		return 0, io.EOF
	}
	n, err := readNow(r.file, b[:min(len(b), restLimit-r.rest)])
	r.rest += n
	return n, err
}
