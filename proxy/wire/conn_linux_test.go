package wire

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The other way does the same: only the processor would notice.
func TestConnDoesNotGoTheOtherWay(t *testing.T) {
	one, other, stop, err := connPair()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if raceEnabled {
		t.Skip("under the race detector it does go the other way")
	}
	if !socketsDoNotWait(t, one) {
		t.Skip("this kernel cannot read a socket by preadv2 without waiting")
	}
	for range 3 {
		if _, err := one.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		n, err := other.Read(make([]byte, 10))
		if err != nil || n != 5 || other.in.n != 5 || one.out.n != 5 || other.in.lacking || one.out.lacking {
			t.Errorf("%d bytes came, %d and %d by the quick way, error %v", n, one.out.n, other.in.n, err)
		}
	}
}

// socketsDoNotWait asks the kernel itself: there is nothing to read.
func socketsDoNotWait(t *testing.T, conn *Conn) bool {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var said error
	if err := raw.Control(func(fd uintptr) {
		_, said = unix.Preadv2(int(fd), [][]byte{make([]byte, 1)}, -1, unix.RWF_NOWAIT)
	}); err != nil {
		t.Fatal(err)
	}
	return errors.Is(said, unix.EAGAIN)
}

// A reset has the words that it has in package net.
func TestConnIsResetAsOthersAre(t *testing.T) {
	for op, use := range map[string]func(net.Conn) error{
		"read": func(c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err },
		"write": func(c net.Conn) (err error) {
			for err == nil { // until the reset has come
				_, err = c.Write([]byte("x"))
			}
			return err
		},
	} {
		one, other, stop, err := connPair()
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		_, _ = one.Write([]byte("unread"))
		_ = other.SetLinger(0)
		_ = other.Close()
		var call *net.OpError
		var system *os.SyscallError
		err = use(one)
		if !errors.As(err, &call) || call.Op != op || call.Net != "tcp" || call.Source == nil || call.Addr == nil || call.Timeout() {
			t.Errorf("%s: %#v", op, err)
		}
		if !errors.As(err, &system) || system.Syscall != op || !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%s: %v", op, err)
		}
	}
}
