package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
)

// CheckProgram says why name cannot be started, by the rules of
// [exec.LookPath], and what to write instead. A program may still vanish
// before it is started: this is for the message, not for safety.
func CheckProgram(name string) error {
	_, err := exec.LookPath(name)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrDot):
		return fmt.Errorf("command %q is in the current directory only; write %q", name, "./"+name)
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("command %q is not executable; write a program, or its interpreter with it as argument", name)
	case strings.Contains(name, " "):
		return fmt.Errorf("command %q does not exist; write the program and each argument apart, not as one text", name)
	case strings.ContainsAny(name, `/\`):
		return fmt.Errorf("command %q does not exist; write the path of a program", name)
	}
	return fmt.Errorf("command %q is not in PATH; install it, or write its whole path", name)
}
