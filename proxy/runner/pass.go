//go:build unix

package runner

import (
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipes are a host's two streams. A runner that has been passed them needs nobody
// to relay; until it has let go of them the front must not touch them.
type pipes struct {
	in, out                 *os.File
	inNonBlock, outNonBlock bool // the modes that the host has given them
}

// pipesOf is nil where the host's bytes have to be relayed: what the two share with
// each other, or with standard error, the front would have to share with the
// runner, and a terminal with everybody.
func pipesOf(opts FrontOptions) *pipes {
	in, isFile := opts.In.(*os.File)
	out, areFiles := opts.Out.(*os.File)
	if !isFile || !areFiles || !isPassable(in) || !isPassable(out) {
		return nil
	}
	if sameFile(in, out) || sameFile(opts.Stderr, in) || sameFile(opts.Stderr, out) {
		return nil
	}
	return &pipes{in, out, isNonBlocking(in), isNonBlocking(out)}
}

// isPassable leaves out pipes with a name where nobody is told of their end (Go
// issue 24164).
func isPassable(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || !isChannel(file) {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return runtime.GOOS == "linux" || info.Mode()&os.ModeSocket != 0 || ok && stat.Nlink == 0
}

// send passes them on with a space, which means nothing before a greeting. It is
// false if they cannot be passed.
func (p *pipes) send(conn *net.UnixConn) bool {
	if p == nil {
		return false
	}
	sent := false
	withFD(p.in, func(in int) {
		withFD(p.out, func(out int) {
			_, _, err := conn.WriteMsgUnix([]byte(" "), unix.UnixRights(in, out), nil)
			sent = err == nil
		})
	})
	return sent
}

// restore undoes what a runner has done to the modes that could not do so itself.
// It must have ended, or have let go of them.
func (p *pipes) restore() {
	if p != nil {
		withFD(p.in, func(fd int) { _ = unix.SetNonblock(fd, p.inNonBlock) })
		withFD(p.out, func(fd int) { _ = unix.SetNonblock(fd, p.outNonBlock) })
	}
}

func isNonBlocking(file *os.File) (is bool) {
	withFD(file, func(fd int) { is = nonBlocking(fd) })
	return is
}

func nonBlocking(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK != 0
}

// withFD does not do what (*os.File).Fd does: change the mode, for all that share
// it.
func withFD(file *os.File, do func(fd int)) {
	if raw, err := file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { do(int(fd)) })
	}
}
