//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errLocked: somebody else is starting a runner.
var errLocked = errors.New("another window is starting the runner")

// lockEvery is how often a lock is tried that somebody has.
const lockEvery = 20 * time.Millisecond

// lock waits for others who are starting a runner, but not longer than limit:
// then the error is errLocked. Closing the file gives the lock up, unless it has
// been handed on.
func lock(ctx context.Context, dir string, limit time.Duration) (*os.File, error) {
	file, err := os.OpenFile(lockPath(dir), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	tick, late := time.NewTicker(lockEvery), time.After(limit)
	defer tick.Stop()
	for {
		if err := tryLock(file); !errors.Is(err, errLocked) {
			return file, closeIf(file, err)
		}
		select {
		case <-tick.C:
		case <-late:
			return nil, closeIf(file, errLocked)
		case <-ctx.Done():
			return nil, closeIf(file, context.Cause(ctx))
		}
	}
}

func tryLock(file *os.File) error {
	switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		return nil
	case errors.Is(err, unix.EWOULDBLOCK), errors.Is(err, unix.EINTR):
		return errLocked
	default:
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
}

func closeIf(file *os.File, err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, file.Close())
}

// unlessLocked does something while nobody can start a runner, or does not do it.
func unlessLocked(dir string, do func()) {
	file, err := os.OpenFile(lockPath(dir), os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if tryLock(file) == nil {
		do()
	}
}

// isLocked says that somebody is starting a runner.
func isLocked(dir string) bool {
	file, err := os.OpenFile(lockPath(dir), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(tryLock(file), errLocked)
}

// sign has the lock's file say which process others wait for.
func sign(dir string) {
	_ = os.WriteFile(lockPath(dir), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600) // with a full disk nobody is named
}

// signed is the process that has signed, as a text for people. Who takes the lock
// to start a runner wipes out the name of an earlier one.
func signed(dir string) string {
	text, _ := os.ReadFile(lockPath(dir))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && syscall.Kill(pid, 0) == nil {
		return fmt.Sprintf(" (process %d)", pid)
	}
	return ""
}

// CheckStarted says whether this process was started for a [Front], as the command
// of a runner has to be, and not by hand: it has a pipe to report on, and the lock.
func CheckStarted(dir string) error {
	var pipe, lock, want unix.Stat_t
	ours := unix.Fstat(readyFD, &pipe) == nil && pipe.Mode&unix.S_IFMT == unix.S_IFIFO &&
		unix.Fstat(lockFD, &lock) == nil && unix.Stat(lockPath(dir), &want) == nil &&
		lock.Dev == want.Dev && lock.Ino == want.Ino
	if !ours {
		return errors.New("windows start the runner, by themselves; write mcp-taskproxy -- COMMAND [ARG...], and see mcp-taskproxy ps for what runs")
	}
	return nil
}
