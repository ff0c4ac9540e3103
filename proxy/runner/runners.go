//go:build unix

package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"time"
)

// CanDetach says that this system has runners.
const CanDetach = true

// Ask returns what the runner of a state directory is doing; nil if there is
// none.
func Ask(dir, version string) (*Status, error) {
	w, conn, err := want(dir, greeting{Version: version, Want: wantList})
	if err != nil || conn == nil {
		return nil, err
	}
	_ = conn.Close()
	return w.Listing, nil
}

// Stop ends the runner of a state directory, and waits for that: sessions and
// tasks have some seconds to end, and what has not is recorded as failed. It is
// false if there is no runner.
func Stop(ctx context.Context, dir, version string) (bool, error) {
	_, conn, err := want(dir, greeting{Version: version, Want: wantStop})
	if err != nil || conn == nil {
		return false, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.Copy(io.Discard, conn); err != nil {
		return true, fmt.Errorf("the runner of %s was told to stop, and has not ended yet: %w", dir, err)
	}
	return true, nil
}

// want connects; conn is nil if there is no runner.
func want(dir string, g greeting) (w welcome, conn *net.UnixConn, err error) {
	w, conn, err = wantNow(dir, g)
	if conn != nil || err != nil || !isLocked(dir) {
		return w, conn, err
	}
	if err := awaitStart(dir); err != nil {
		return w, nil, err
	}
	return wantNow(dir, g)
}

// startingLimit is how long somebody who looks waits for a runner that is just being
// started.
const startingLimit = 5 * time.Second

func awaitStart(dir string) error {
	file, err := lock(context.Background(), dir, startingLimit)
	switch {
	case errors.Is(err, errLocked):
		return fmt.Errorf("the runner%s is being started, and is not ready yet: wait and try again, or end it with kill -9 (nothing has been sent to a server)", signed(dir))
	case err != nil:
		return err
	}
	return file.Close()
}

func wantNow(dir string, g greeting) (welcome, *net.UnixConn, error) {
	conn, err := dial(dir)
	if err != nil {
		return welcome{}, nil, ignoreAbsent(err)
	}
	w, err := greet(conn, bufio.NewReader(conn), g)
	if err != nil {
		return w, nil, errors.Join(ignoreAbsent(err), conn.Close())
	}
	return w, conn, nil
}

func ignoreAbsent(err error) error {
	if isAbsent(err) {
		return nil
	}
	return err
}

// Dirs are the state directories under root that have, or had, a runner.
func Dirs(root string) []string {
	locks, err := filepath.Glob(lockPath(filepath.Join(root, "*")))
	if err != nil {
		return nil // no pattern is wrong
	}
	var dirs []string
	for _, path := range locks {
		dirs = append(dirs, filepath.Dir(path))
	}
	slices.Sort(dirs)
	return dirs
}

// refuseBesideRunner is for a process that wants the directory for itself.
func refuseBesideRunner(dir, version string) error {
	status, err := Ask(dir, version)
	if err != nil || status == nil || status.Ending || len(status.Sessions) == 0 {
		return nil // the store's own lock has the last word; a runner with nothing to do is leaving
	}
	return fmt.Errorf("the state directory %s is in use by a runner (process %d, %d windows): leave out --detach never to use it too (without --listen), end it with mcp-taskproxy stop --state-dir %s, or choose another directory",
		dir, status.PID, len(status.Sessions), dir)
}
