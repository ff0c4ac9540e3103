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
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// starter finds the runner of a state directory, and starts it if need be.
type starter struct {
	StateDir string // absolute
	Node     string
	// Command is the program and the first arguments of a command that calls
	// [Serve], with what --state-dir and --node say, in a session of its own,
	// and [Report] when it is ready.
	Command []string
}

// Descriptors of the command. On the first it says that it is ready: a line of
// JSON, null or a text that says why it is not. The second only keeps the lock
// until then, also where the front that took it has died.
const (
	readyFD = 3
	lockFD  = 4
)

func socketPath(dir string) string { return filepath.Join(dir, "runner.sock") }

// LogPath is the file of the runner's log.
func LogPath(dir string) string  { return filepath.Join(dir, "runner.log") }
func lockPath(dir string) string { return filepath.Join(dir, "runner.lock") }

// reach has use called with a way to a runner. Where there is none, one is
// started, under a lock, so that of many who come at once one does so.
func (s starter) reach(ctx context.Context, use func(dial func() (*net.UnixConn, error)) error) error {
	if err := s.checkDir(); err != nil {
		return err
	}
	err := use(s.dial)
	if !isAbsent(err) {
		return err
	}
	lock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close() // which gives it up
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

// isAbsent says that there is no runner, or was one that is just leaving.
func isAbsent(err error) bool {
	var lost *lostError
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ECONNREFUSED) || errors.As(err, &lost)
}

func (s starter) dial() (*net.UnixConn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: socketPath(s.StateDir), Net: "unix"})
}

// maxSocketPath is what every system takes.
const maxSocketPath = 103

// checkDir makes the directory, or makes sure that nobody else can have put a
// socket there.
func (s starter) checkDir() error {
	if path := socketPath(s.StateDir); len(path) > maxSocketPath {
		return fmt.Errorf("%s is too long for a socket (%d bytes, %d at most): choose a shorter --state-dir, or --detach never", path, len(path), maxSocketPath)
	}
	if info, err := os.Stat(s.StateDir); err == nil && info.IsDir() && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others can write to the state directory %s: `chmod 700` it, or choose another with --state-dir", s.StateDir)
	}
	return taskstate.PrepareDir(s.StateDir)
}

// lockEvery is how often a lock is tried that somebody has.
const lockEvery = 20 * time.Millisecond

// lock waits for others who are starting a runner.
func (s starter) lock(ctx context.Context) (*os.File, error) {
	file, err := os.OpenFile(lockPath(s.StateDir), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return file, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return nil, errors.Join(fmt.Errorf("%s: %w", file.Name(), err), file.Close())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		}
	}
}

// start runs the command and waits until the runner is ready.
func (s starter) start(ctx context.Context, lock *os.File) error {
	log, err := os.OpenFile(LogPath(s.StateDir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	ready, report, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.Command(s.Command[0], append(s.Command[1:len(s.Command):len(s.Command)], "--state-dir", s.StateDir, "--node", s.Node)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = "/", log, log, []*os.File{report, lock}
	err = startApart(cmd)
	_ = report.Close()
	if err != nil {
		return fmt.Errorf("the runner could not be started: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Now()) })()
	return errors.Join(readReady(ready, LogPath(s.StateDir)), cmd.Wait())
}

func readReady(r io.Reader, log string) error {
	var failure *string
	switch err := json.NewDecoder(r).Decode(&failure); {
	case err != nil:
		return fmt.Errorf("the runner did not start; its log is %s", log)
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
