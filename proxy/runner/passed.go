//go:build unix

package runner

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// passed is a host whose streams the front has passed on. They go as soon as the
// front has gone: somebody may wait for their end.
type passed struct {
	conn    *net.UnixConn // says that the front is there
	in      *passedIn
	out     *passedOut
	letGo   sync.Once
	watched chan struct{} // closed when nothing watches the connection any more
}

// newPassed owns the descriptors in any case; r is what the front says. An error
// means that the streams cannot be used without waiting.
func newPassed(conn *net.UnixConn, r *bufio.Reader, fds []int) (*passed, error) {
	in, inErr := newPassedIn(fds[0])
	out, outErr := newPassedOut(fds[1])
	p := &passed{conn: conn, in: in, out: out, watched: make(chan struct{})}
	if err := errors.Join(inErr, outErr); err != nil {
		p.release()
		return nil, err
	}
	out.failed = p.interrupt // a host that takes nothing any more is gone
	go p.watch(r)            // end waits for it
	return p, nil
}

// watch reads a byte if the front is told to end while its host goes on, and the
// end of the stream when it has gone.
func (p *passed) watch(r *bufio.Reader) {
	defer close(p.watched)
	_, _ = r.ReadByte()
	p.interrupt()
	_, _ = io.Copy(io.Discard, r)
	p.release()
}

// interrupt lets the session read the end of the host's input.
func (p *passed) interrupt() { _ = p.in.file.SetReadDeadline(time.Now()) }

// release closes the host's streams, and has their mode be as it was. It waits
// where somebody else has made them wait.
func (p *passed) release() {
	p.letGo.Do(func() {
		if p.in != nil {
			_ = p.in.file.Close()
		}
		if p.out != nil {
			p.out.release()
		}
	})
}

// letGoLimit is far more than it takes to close a stream that nobody else has made
// wait.
const letGoLimit = 500 * time.Millisecond

// end lets go of the streams, and then of the front, which may use them from then
// on. What waits for the host in spite of their mode is left to the host's end.
func (p *passed) end() {
	released := make(chan struct{})
	go func() { defer close(released); p.release() }()
	awaitFor(released, letGoLimit)
	_ = p.conn.Close()
	awaitFor(p.watched, letGoLimit)
}
