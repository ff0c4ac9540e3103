// Holdsync becomes another program that has to ask before it syncs a file, and so
// does everything that this starts: the kernel holds each such call until whoever
// has the listener answers (seccomp, user notification). The listener goes over the
// Unix socket that is named.
//
//	holdsync SOCKET COMMAND [ARG...]
//
// It exits with status 3, and says why, where the system does not let it.
package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	runtime.LockOSThread() // what is run instead inherits the filter of this thread
	listener, err := filter()
	if err == nil {
		err = give(listener, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "holdsync:", err)
		os.Exit(3)
	}
	command, err := exec.LookPath(os.Args[2])
	if err == nil {
		err = syscall.Exec(command, os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "holdsync:", err)
	os.Exit(1)
}

// filter holds calls that sync a file, of this thread.
func filter() (listener int, err error) {
	jump := func(nr int, over uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(nr), Jt: over}
	}
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		jump(unix.SYS_MSYNC, 3), jump(unix.SYS_FSYNC, 2), jump(unix.SYS_FDATASYNC, 1),
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("seccomp: %w", err)
	}
	all := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&all)))
	if errno != 0 {
		return 0, fmt.Errorf("seccomp: %w", errno)
	}
	return int(fd), nil
}

func give(listener int, socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, _, err = conn.(*net.UnixConn).WriteMsgUnix([]byte{0}, unix.UnixRights(listener), nil)
	return err
}
