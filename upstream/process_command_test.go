//go:build unix

package upstream

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestStartErrorSaysWhatToRepair(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "#!/bin/sh\n", 0o644)
	orphaned := write("orphaned", "#!/no/such/interpreter\n", 0o755)
	tests := map[string]struct {
		cmd  Command
		says string
		is   error
	}{
		"no command":             {Command{}, "empty", nil},
		"empty program":          {Command{Args: []string{"", "x"}}, "empty", nil},
		"not on PATH":            {Command{Args: []string{"no-such-program", "secret"}}, "not found on PATH", exec.ErrNotFound},
		"no such file":           {Command{Args: []string{"./no-such-program", "secret"}}, "no such file", fs.ErrNotExist},
		"not executable":         {Command{Args: []string{plain, "secret"}}, "not executable", fs.ErrPermission},
		"not executable on PATH": {Command{Args: []string{"plain"}, Env: []string{"PATH=" + dir}}, "not executable", fs.ErrPermission},
		"a directory":            {Command{Args: []string{dir + "/"}}, "not executable", fs.ErrPermission},
		"missing interpreter":    {Command{Args: []string{orphaned}}, "interpreter", fs.ErrNotExist},
		"missing directory":      {Command{Args: []string{"sh"}, Dir: dir + "/none"}, "working directory: chdir " + dir + "/none", fs.ErrNotExist},
		"directory is a file":    {Command{Args: []string{"sh"}, Dir: plain}, "not a directory", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := startProcess(test.cmd, processOptions{})
			if _, ok := errors.AsType[*startError](err); !ok || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("error %v, want a start error with %q", err, test.says)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v does not wrap %v", err, test.is)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows an argument: %v", err)
			}
			if len(test.cmd.Args) > 0 && !strings.Contains(err.Error(), `"`+test.cmd.Args[0]+`"`) {
				t.Errorf("the error does not name the command: %v", err)
			}
		})
	}
}

func TestProgramIsLookedUpOnTheCommandsOwnPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "some-server"), []byte("#!/bin/sh\necho here\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := map[string]Command{
		"absolute":                  {Env: []string{"PATH=/none:" + dir + "/bin"}},
		"relative to its directory": {Env: []string{"PATH=bin"}, Dir: dir},
	}
	for name, cmd := range tests {
		t.Run(name, func(t *testing.T) {
			cmd.Args = []string{"some-server"}
			if got := readLine(t, stdoutOf(start(t, cmd, processOptions{}))); got != "here" {
				t.Errorf("read %q", got)
			}
		})
	}
}

func TestProgramWithoutAnyPathIsStillFound(t *testing.T) {
	p := start(t, Command{Args: []string{"sh", "-c", "echo here"}, Env: []string{}}, processOptions{})
	if got := readLine(t, stdoutOf(p)); got != "here" {
		t.Errorf("read %q", got)
	}
}
