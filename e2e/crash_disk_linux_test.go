package e2e

import (
	"net"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// disk answers for the syncs of a process and all that it starts (holdsync). Of a
// transaction of the task store there are two: before the first the change is not in
// the log that is read after a crash, before the second it is.
type disk struct {
	listener int
	over     chan struct{} // closed when none of these processes is left

	mu     sync.Mutex
	passes int    // how many syncs pass before one is held; negative for all
	only   int32  // the system call of the one that is held; 0 for any
	held   uint64 // the one that is held; 0 for none
	count  int
	pid    int // of whoever was the last to sync, or of a thread of it
}

type (
	syncHeld struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	syncAnswer struct {
		id    uint64
		val   int64
		err   int32
		flags uint32
	}
)

// newDisk has the syncs of what connects to the socket pass, but one: the first
// behind so many.
func newDisk(t *testing.T, socket *net.UnixListener, passes int) *disk {
	t.Helper()
	mustDo(t, socket.SetDeadline(time.Now().Add(patience)))
	conn, err := socket.AcceptUnix()
	mustDo(t, err)
	defer conn.Close()
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
	mustDo(t, err)
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		t.Fatalf("holdsync gave no listener: %v", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	mustDo(t, err)
	d := &disk{listener: fds[0], over: make(chan struct{}), passes: passes}
	go d.serve()
	return d
}

// serve ends when nobody is left who could ask.
func (d *disk) serve() {
	defer close(d.over)
	defer unix.Close(d.listener)
	for {
		fds := []unix.PollFd{{Fd: int32(d.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err == nil && fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		var call syncHeld
		if d.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&call)) && d.asked(call) {
			d.answer(call.id)
		}
	}
}

func (d *disk) asked(call syncHeld) (passes bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count++
	d.pid = int(call.pid)
	if d.only != 0 && call.nr != d.only {
		return true
	}
	if d.passes != 0 {
		d.passes = max(-1, d.passes-1)
		return true
	}
	d.passes, d.held = -1, call.id
	return false
}

func (d *disk) answer(id uint64) {
	a := syncAnswer{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	d.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) // unless whoever asked was killed
}

func (d *disk) ioctl(request uintptr, arg unsafe.Pointer) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.listener), request, uintptr(arg))
	return errno == 0
}

// hold has one sync wait: the first behind so many; none if that is negative.
func (d *disk) hold(passes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passes = passes
}

// holdOnly has the next sync of that kind wait: the database's own are of its memory
// maps, SYS_MSYNC.
func (d *disk) holdOnly(call int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passes, d.only = 0, call
}

// letGo has every sync pass.
func (d *disk) letGo() {
	d.mu.Lock()
	held := d.held
	d.passes, d.held = -1, 0
	d.mu.Unlock()
	if held != 0 {
		d.answer(held)
	}
}

func (d *disk) look() (held bool, count, pid int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held != 0, d.count, d.pid
}
