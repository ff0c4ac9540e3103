//go:build unix

package runner

import (
	"bufio"
	"context"
	"errors"
	"net"
	"path/filepath"

	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

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
	if err := f.open(main, fromMain, w.Session); err != nil {
		return errors.Join(err, side.Close(), main.Close())
	}
	f.main, f.side, f.fromMain, f.fromSide, f.runner = main, side, fromMain, fromSide, w.PID
	return nil
}

// open has the runner begin to serve. One that was passed the host's pipes, and
// does not, may have ended with them.
func (f *front) open(main *net.UnixConn, fromMain *bufio.Reader, session string) error {
	g := f.serve(session)
	g.Passed = f.pipes.send(main)
	w, err := greet(main, fromMain, g)
	if f.passed = g.Passed && w.Passed && err == nil; !f.passed {
		f.pipes.restore()
	}
	return err
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
