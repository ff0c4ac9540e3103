//go:build unix

package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
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
func want(dir string, g greeting) (welcome, net.Conn, error) {
	conn, err := starter{StateDir: dir}.dial()
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
	sockets, err := filepath.Glob(filepath.Join(root, "*", filepath.Base(socketPath(""))))
	if err != nil {
		return nil // no pattern is wrong
	}
	var dirs []string
	for _, path := range sockets {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	slices.Sort(dirs)
	return dirs
}

// refuseBesideRunner is for a process that wants the directory for itself.
func refuseBesideRunner(dir, version string) error {
	status, err := Ask(dir, version)
	if err != nil || status == nil || len(status.Sessions) == 0 {
		return nil // the store's own lock has the last word; a runner with nothing to do is leaving
	}
	return fmt.Errorf("the state directory %s is in use by a runner (process %d, %d windows): leave out --detach never to use it too (without --listen), end it with mcp-taskproxy stop --state-dir %s, or choose another directory",
		dir, status.PID, len(status.Sessions), dir)
}
