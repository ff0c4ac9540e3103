package runner

import (
	"math"
	"net"

	"golang.org/x/sys/unix"
)

// keepDescriptors has no child inherit what this process has inherited itself.
func keepDescriptors() {
	const first = 3
	if unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	keepOneByOne(first)
}

// peerOf is the process that listens at the other end, or 0.
func peerOf(conn *net.UnixConn) (pid int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}
