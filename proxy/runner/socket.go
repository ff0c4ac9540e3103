//go:build unix

package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

func socketPath(dir string) string { return filepath.Join(dir, "runner.sock") }

// LogPath is the file of the runner's log.
func LogPath(dir string) string  { return filepath.Join(dir, "runner.log") }
func lockPath(dir string) string { return filepath.Join(dir, "runner.lock") }

// maxSocketPath is what every system takes.
const maxSocketPath = 103

// checkDir makes the directory, or makes sure that nobody else can have put a
// socket there.
func checkDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others can write to the state directory %s: `chmod 700` it, or choose another with --state-dir", dir)
	}
	return taskstate.PrepareDir(dir)
}

// dial connects to whoever listens for the directory.
func dial(dir string) (*net.UnixConn, error) {
	path, err := placeOf(socketPath(dir))
	if err != nil {
		return nil, err
	}
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
}

// placeOf follows the link that stands for a socket whose own path would be too
// long. The link lies in a directory where nobody else writes; what it names need
// not be ours any more.
func placeOf(path string) (string, error) {
	if len(path) <= maxSocketPath {
		return path, nil
	}
	place, err := os.Readlink(path)
	if err != nil {
		return "", err
	}
	return place, checkPrivate(filepath.Dir(place))
}

// checkPrivate insists on a directory that is the user's alone.
func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s, where the runner's socket was, is not this user's alone: end the runner, and use a shorter --state-dir", dir)
	}
	return nil
}

// listenUnix is for the holder of the store: what lies in the socket's place is
// nobody's. Closing the listener leaves the socket there.
func listenUnix(dir string) (*net.UnixListener, error) {
	path := socketPath(dir)
	if err := removeSocket(path); err != nil {
		return nil, err
	}
	place := path
	if len(path) > maxSocketPath {
		var err error
		if place, err = elsewhere(path); err != nil {
			return nil, err
		}
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: place, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	if err := os.Chmod(place, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// elsewhere finds a short path for the socket and leaves a link to it.
func elsewhere(path string) (string, error) {
	dir, err := os.MkdirTemp("", "mcp-taskproxy-")
	if err != nil {
		return "", err
	}
	place := filepath.Join(dir, "runner.sock")
	if len(place) > maxSocketPath {
		return "", errors.Join(fmt.Errorf("%s is too long for a socket, and so is %s (%d bytes at most): choose a shorter --state-dir or TMPDIR, or --detach never",
			path, place, maxSocketPath), os.Remove(dir))
	}
	return place, os.Symlink(place, path)
}

// removeSocket takes away a socket with what elsewhere made for it. Only empty
// directories go.
func removeSocket(path string) error {
	if place, err := os.Readlink(path); err == nil && filepath.Base(place) == filepath.Base(path) && checkPrivate(filepath.Dir(place)) == nil {
		_ = os.Remove(place)
		_ = os.Remove(filepath.Dir(place))
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
