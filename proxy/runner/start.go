//go:build unix

package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// starter finds the runner of a state directory, and starts it if need be.
type starter struct {
	Storage // the directory is absolute
	// Command is the program and the first arguments of a command that calls
	// [Serve], with what the flags of Storage say, in a session of its own,
	// and [Report] when it is ready.
	Command []string
	// Patience is how long the start of a runner may take, one's own and that of
	// others.
	Patience time.Duration
}

// Descriptors of the command. On the first it says that it is ready: a line of
// JSON, null or a text that says why it is not. The second only keeps the lock
// until then, also where the front that took it has died.
const (
	readyFD = 3
	lockFD  = 4
)

// startLimit is what a runner has that waits for an earlier one, and then reads a
// large store.
const startLimit = 2 * runnerWait

// dialEvery is how often a runner is looked for while somebody else starts it.
const dialEvery = time.Second

// dialer connects to the runner.
type dialer func() (*net.UnixConn, error)

// reach has use called with a way to a runner. Where there is none, one is
// started, under a lock, so that of many who come at once one does so.
func (s starter) reach(ctx context.Context, use func(dialer) error) error {
	if err := checkDir(s.StateDir); err != nil {
		return err
	}
	for begun := time.Now(); ; {
		if err := use(s.dial); !isAbsent(err) {
			return err
		}
		lock, err := lock(ctx, s.StateDir, min(dialEvery, s.Patience))
		switch {
		case err == nil:
			defer lock.Close() // which gives it up
			return s.reachLocked(ctx, use, lock)
		case !errors.Is(err, errLocked):
			return err
		case time.Since(begun) > s.Patience:
			return s.tooSlow("another window has been waiting for the runner that it starts")
		}
	}
}

// reachLocked is reach for the one that starts a runner, unless somebody did so
// before it.
func (s starter) reachLocked(ctx context.Context, use func(dialer) error, lock *os.File) error {
	if err := use(s.dial); !isAbsent(err) {
		return err
	}
	if err := s.start(ctx, lock); err != nil {
		return err
	}
	if err := use(s.dial); !isAbsent(err) {
		return err
	}
	return &lostError{errors.New("it was started and has ended again")}
}

func (s starter) tooSlow(what string) error {
	return fmt.Errorf("%s for %v: it%s hangs, or reads a large store; wait and try again, or end it with kill -9 (nothing has been sent to a server); its log is %s",
		what, s.Patience, signed(s.StateDir), LogPath(s.StateDir))
}

// isAbsent says that there is no runner, or was one that is just leaving.
func isAbsent(err error) bool {
	var lost *lostError
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ECONNREFUSED) || errors.As(err, &lost)
}

func (s starter) dial() (*net.UnixConn, error) { return dial(s.StateDir) }

// start runs the command and waits until the runner is ready.
func (s starter) start(ctx context.Context, lock *os.File) error {
	log, err := os.OpenFile(LogPath(s.StateDir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := lock.Truncate(0); err != nil { // see signed
		return err
	}
	ready, report, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.Command(s.Command[0], append(s.Command[1:len(s.Command):len(s.Command)], s.Flags()...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = "/", log, log, []*os.File{report, lock}
	err = startApart(cmd)
	_ = report.Close()
	if err != nil {
		return fmt.Errorf("the runner could not be started: %w", err)
	}
	_ = ready.SetReadDeadline(time.Now().Add(s.Patience)) // pipes have deadlines
	defer context.AfterFunc(ctx, func() { _ = ready.Close() })()
	err = s.readReady(ready)
	_ = cmd.Process.Kill() // it has done its part, or never will
	_ = cmd.Wait()
	return err
}

func (s starter) readReady(r io.Reader) error {
	var failure *string
	switch err := json.NewDecoder(r).Decode(&failure); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return s.tooSlow("this window has been waiting for the runner that it starts")
	case err != nil:
		return fmt.Errorf("the runner did not start; its log is %s", LogPath(s.StateDir))
	case failure != nil:
		return errors.New(*failure)
	}
	return nil
}

// Report is what Ready of [ServeOptions] does in the command of a [starter].
func Report(failure error) {
	report, lock := os.NewFile(readyFD, "ready"), os.NewFile(lockFD, "lock")
	defer lock.Close()
	var text *string
	if failure != nil {
		s := failure.Error()
		text = &s
	}
	_ = json.NewEncoder(report).Encode(text) // a front that has gone does not matter
	_ = report.Close()
}
