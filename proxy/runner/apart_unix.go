//go:build unix

package runner

import (
	"os"
	"os/exec"
	"syscall"
)

// keepOneByOne is for systems that do not do it in one go.
func keepOneByOne(first int) {
	const most = 1024
	for fd := first; fd < most; fd++ {
		syscall.CloseOnExec(fd)
	}
}

// startApart starts a command in a session of its own, which nothing of ours
// but its files reaches.
func startApart(cmd *exec.Cmd) error {
	keepDescriptors()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// Fork runs this program once more, with these arguments, and lets it go: when
// the caller has ended, it is no descendant of whoever wanted the runner, and
// does not end with that one's.
func Fork(args []string) error {
	cmd, err := fork(args)
	if err != nil {
		return err
	}
	return cmd.Process.Release()
}

// fork hands the descriptors of a starter's command on. The caller may close its
// own.
func fork(args []string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{os.NewFile(readyFD, "ready"), os.NewFile(lockFD, "lock")}
	if err := startApart(cmd); err != nil {
		return nil, err
	}
	for _, file := range cmd.ExtraFiles {
		_ = file.Close()
	}
	return cmd, nil
}
