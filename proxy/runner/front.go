//go:build unix

package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// front relays a host's bytes to the runner and back.
type front struct {
	opts       FrontOptions
	main, side *net.UnixConn
	fromMain   *bufio.Reader
	fromSide   *bufio.Reader
	runner     int // process id
}

// Front serves one host through the runner of the state directory, which it
// starts if there is none. It returns when the session is over: because the host
// closed In, because ctx ended, which says the same, or because the runner has
// ended. Reading from In and writing to Out cannot be interrupted: their
// goroutines may stay until the process ends.
func Front(ctx context.Context, opts FrontOptions) error {
	f := &front{opts: opts}
	if err := f.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // the host did not wait
		}
		return err
	}
	defer f.main.Close()
	defer f.side.Close()
	defer context.AfterFunc(ctx, f.hangUp)()
	go f.fromHost()
	read, said := make(chan struct{}), make(chan error, 1)
	go func() { defer close(read); f.toHost() }()
	go func() { said <- f.notes() }() // ends with the side
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
func (f *front) hangUp() { _ = f.main.CloseWrite() }

func (f *front) fromHost() {
	_, _ = io.Copy(f.main, f.opts.In) // either end of it means the same
	f.hangUp()
}

func (f *front) toHost() {
	if _, err := io.Copy(f.opts.Out, f.fromMain); err != nil {
		f.hangUp() // the host does not take anything any more
		_, _ = io.Copy(io.Discard, f.fromMain)
	}
}

// notes passes on what is for standard error, until the session is over.
func (f *front) notes() error {
	stderr, written := f.stderr()
	defer func() { close(stderr); awaitFor(written, lastWords) }()
	for lines := json.NewDecoder(f.fromSide); ; {
		var n note
		err := lines.Decode(&n)
		switch {
		case err != nil:
			return errSideLost
		case n.Error != "":
			return errors.New(n.Error)
		case n.End:
			return nil
		}
		select {
		case stderr <- n.Stderr:
		default: // the host does not read it
		}
	}
}

// keptNotes are how many writes to standard error may wait for the host.
const keptNotes = 256

// stderr takes what is for standard error, and never waits; the goroutine that
// writes it may stay until the process ends.
func (f *front) stderr() (texts chan []byte, written chan struct{}) {
	texts, written = make(chan []byte, keptNotes), make(chan struct{})
	go func() {
		defer close(written)
		for text := range texts {
			_, _ = f.opts.Stderr.Write(text)
		}
	}()
	return texts, written
}

// lastWords is how long a host may take to read the end of standard error.
const lastWords = 250 * time.Millisecond

func (f *front) lost() error {
	return fmt.Errorf("the runner (process %d) has ended without a word: tasks that were running have failed, results stay; its log is %s",
		f.runner, LogPath(f.opts.StateDir))
}

// connect reaches a runner. One that ends at this very moment is followed by
// another.
func (f *front) connect(ctx context.Context) error {
	dir, err := filepath.Abs(f.opts.StateDir)
	if err != nil {
		return err
	}
	f.opts.StateDir = dir
	found := starter{Storage: f.opts.Storage, Command: f.opts.Start, Patience: startLimit}
	for range connectTries {
		err = found.reach(ctx, func(dial dialer) error { return f.greet(ctx, dial) })
		var lost *lostError
		if !errors.As(err, &lost) {
			return err
		}
	}
	return err
}

// connectTries is far more than runners can come and go while one front starts.
const connectTries = 5

// greet opens the two connections of a session. Nobody waits for an answer when
// ctx ends.
func (f *front) greet(ctx context.Context, dial dialer) error {
	side, err := dial()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = side.Close() })()
	fromSide := bufio.NewReader(side)
	w, err := greet(side, fromSide, greeting{Version: f.opts.Version, Want: wantSide, dir: f.opts.StateDir})
	if err != nil {
		return errors.Join(err, side.Close())
	}
	main, err := dial()
	if err != nil {
		return errors.Join(&lostError{err}, side.Close())
	}
	defer context.AfterFunc(ctx, func() { _ = main.Close() })()
	fromMain := bufio.NewReaderSize(main, 64<<10)
	if _, err := greet(main, fromMain, f.serve(w.Session)); err != nil {
		return errors.Join(err, side.Close(), main.Close())
	}
	f.main, f.side, f.fromMain, f.fromSide, f.runner = main, side, fromMain, fromSide, w.PID
	return nil
}

// serve is the greeting with all that the runner needs.
func (f *front) serve(session string) greeting {
	server := f.opts.Server
	server.Upstream = upstream.Command{}
	return greeting{
		Version: f.opts.Version, Want: wantServe, dir: f.opts.StateDir, Session: session,
		Server: encodeSettings(server), Command: commandOf(f.opts.Upstream),
	}
}
