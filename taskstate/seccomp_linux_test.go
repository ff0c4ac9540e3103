package taskstate

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// disturbed is how the disk of this process behaves: every call that syncs a file
// is held by the kernel and asked for here (seccomp, user notification).
type disturbed struct {
	listener int
	mode     atomic.Int32
	held     atomic.Int32 // calls that were slowed down or failed
}

const (
	diskWorks = iota
	diskFails
	diskSlow // 2 s for each sync
)

type (
	seccompNotif struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	seccompAnswer struct {
		id    uint64
		val   int64
		err   int32
		flags uint32
	}
)

// disturb installs the filter for all threads of this process, for good.
func disturb() (*disturbed, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	jump := func(nr int) unix.SockFilter { // to the last instruction
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(nr)}
	}
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		jump(unix.SYS_MSYNC), jump(unix.SYS_FSYNC), jump(unix.SYS_FDATASYNC),
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
	}
	for i := 1; i <= 3; i++ {
		program[i].Jt = uint8(len(program) - 1 - i - 1)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH)
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return nil, errno
	}
	d := &disturbed{listener: int(fd)}
	go d.serve()
	return d, nil
}

func (d *disturbed) serve() {
	for {
		var n seccompNotif
		if !d.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) {
			continue // the call was broken off by a signal, and comes again
		}
		a := seccompAnswer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		switch d.mode.Load() {
		case diskFails:
			d.held.Add(1)
			a.flags, a.err = 0, -int32(unix.EIO)
		case diskSlow:
			d.held.Add(1)
			<-time.After(2 * time.Second)
		}
		d.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
	}
}

func (d *disturbed) ioctl(request uintptr, arg unsafe.Pointer) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.listener), request, uintptr(arg))
	return errno == 0
}
