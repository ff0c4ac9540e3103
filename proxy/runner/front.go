//go:build unix

package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// front is there for its host, and relays what the runner cannot have itself.
type front struct {
	opts       FrontOptions
	pipes      *pipes // of the host; nil if its bytes have to be relayed
	passed     bool   // the runner has them
	main, side *net.UnixConn
	fromMain   *bufio.Reader
	fromSide   *bufio.Reader
	runner     int // process id
}

// Front serves one host through the runner of the state directory, which it
// starts if there is none. It returns when the session is over: because the host
// closed In, because ctx ended, which says the same, or because the runner has
// ended. If In and Out are pipes or sockets of their own, the runner is given
// them, and nobody may touch them until Front returns. Otherwise their bytes are
// relayed; reading from In and writing to Out cannot be interrupted then: their
// goroutines may stay until the process ends.
func Front(ctx context.Context, opts FrontOptions) error {
	f := &front{opts: opts, pipes: pipesOf(opts)}
	if err := f.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // the host did not wait
		}
		return err
	}
	defer f.main.Close()
	defer f.side.Close()
	defer context.AfterFunc(ctx, f.hangUp)()
	if !f.passed {
		go f.fromHost()
	}
	read, said := make(chan struct{}), make(chan error, 1)
	go func() { defer close(read); f.toHost() }()
	go func() { said <- f.notes() }() // ends with the side
	return f.attend(ctx, read, said)
}

// attend waits for the end of the session.
func (f *front) attend(ctx context.Context, read <-chan struct{}, said <-chan error) error {
	select {
	case <-read:
		return f.lastWord(said)
	case err := <-said:
		if err == errSideLost { // one that was too slow for the runner, which goes on
			select {
			case <-read:
			case <-ctx.Done():
			}
			err = f.lost()
		}
		await(read)
		return err
	}
}

// lastWord is what the runner says of the end of a session.
func (f *front) lastWord(said <-chan error) error {
	select {
	case err := <-said:
		if err == errSideLost {
			return f.lost()
		}
		return err
	case <-time.After(closeGrace):
		return f.lost()
	}
}

// await leaves a host that does not read to itself.
func await(read <-chan struct{}) { awaitFor(read, closeGrace) }

func awaitFor(done <-chan struct{}, limit time.Duration) {
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// errSideLost: the side has ended without a last note.
var errSideLost = errors.New("the runner does not say any more what happens")

// hangUp tells the runner that the host is gone.
func (f *front) hangUp() {
	if f.passed { // the end of the stream would say that this process is gone, too
		_, _ = f.main.Write([]byte{'\n'})
		return
	}
	_ = f.main.CloseWrite()
}

func (f *front) fromHost() {
	_, _ = io.Copy(f.main, f.opts.In) // either end of it means the same
	f.hangUp()
}

// toHost returns when the runner has nothing more for the host, or is no more.
func (f *front) toHost() {
	if f.passed {
		_, _ = io.Copy(io.Discard, f.fromMain)
		f.pipes.restore()
		return
	}
	if _, err := io.Copy(f.opts.Out, f.fromMain); err != nil {
		f.hangUp() // the host does not take anything any more
		_, _ = io.Copy(io.Discard, f.fromMain)
	}
}

func (f *front) lost() error {
	return fmt.Errorf("the runner (process %d) has ended without a word: tasks that were running have failed, results stay; its log is %s",
		f.runner, LogPath(f.opts.StateDir))
}
