//go:build unix

package upstream

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// readNow reads what the pipe holds at this moment; a pipe that holds nothing is at its end.
func readNow(f *os.File, b []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var readErr error
	err = raw.Control(func(fd uintptr) {
		for n, readErr = unix.Read(int(fd), b); readErr == unix.EINTR; {
			n, readErr = unix.Read(int(fd), b)
		}
	})
	if readErr == unix.EAGAIN || err == nil && readErr == nil && n == 0 {
		readErr = io.EOF
	}
	return max(n, 0), errors.Join(err, readErr)
}

// defaultPath is searched when the environment has no PATH at all, as execvp does.
const defaultPath = "/bin:/usr/bin"

// lookUp searches the child's PATH, as execvp would with the child's environment in the child's directory: os/exec would
// search ours, and the runner's PATH is not the one of the host that asked.
func (c Command) lookUp(name string) (string, error) {
	list, ok := c.variable("PATH")
	if !ok {
		list = defaultPath
	}
	found := error(exec.ErrNotFound)
	for _, dir := range filepath.SplitList(list) {
		candidate := filepath.Join(dir, name)
		err := checkExecutable(c.fromDir(candidate))
		if err == nil {
			return candidate, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			found = err
		}
	}
	return name, found
}

func checkExecutable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return &fs.PathError{Op: "exec", Path: path, Err: syscall.EACCES}
	}
	return nil
}
