package upstream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// path returns the file to execute. A relative one is meant relative to Dir, where the child will stand.
func (c Command) path() (string, error) {
	switch {
	case len(c.Args) == 0 || c.Args[0] == "":
		return "", errors.New("the command is empty")
	case filepath.Base(c.Args[0]) != c.Args[0]:
		return c.Args[0], nil
	}
	return c.lookUp(c.Args[0])
}

// variable returns a variable of the child's environment.
func (c Command) variable(name string) (string, bool) {
	if c.Env == nil {
		return os.LookupEnv(name)
	}
	for _, entry := range c.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// fromDir is the path as seen from our own working directory.
func (c Command) fromDir(path string) string {
	if c.Dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}

// startError says which command could not be started and why. It names the program only: arguments may hold secrets.
type startError struct {
	program string
	reason  string
	err     error
}

func (e *startError) Error() string {
	return fmt.Sprintf("cannot start the upstream command %q: %s", e.program, e.reason)
}

func (e *startError) Unwrap() error { return e.err }

// explain turns an error of the start into one that says what to repair. The kernel has one and the same error for
// several causes, so this looks again.
func (c Command) explain(path string, err error) error {
	e := &startError{reason: err.Error(), err: err}
	if len(c.Args) > 0 {
		e.program = c.Args[0]
	}
	if dirErr := c.checkDir(); dirErr != nil {
		e.reason, e.err = "working directory: "+dirErr.Error(), dirErr
		return e
	}
	if reason := c.missing(path, err); reason != "" {
		e.reason = reason
	}
	return e
}

func (c Command) checkDir() error {
	if c.Dir == "" {
		return nil
	}
	// With the dot it fails as entering would: on a file, and on a directory without the permission.
	_, err := os.Stat(c.Dir + "/.")
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "chdir", Path: c.Dir, Err: cause.Err}
	}
	return err
}

// missing names what is missing: the program, its interpreter, or the permission to run it.
func (c Command) missing(path string, err error) string {
	_, statErr := os.Stat(c.fromDir(path))
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "not found on PATH"
	case errors.Is(err, fs.ErrNotExist) && statErr == nil:
		return fmt.Sprintf("%s exists, but the interpreter or loader that it names does not", path)
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.Is(err, fs.ErrPermission):
		return "not executable: " + err.Error()
	}
	return ""
}
