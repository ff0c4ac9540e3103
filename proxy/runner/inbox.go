//go:build unix

package runner

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// inbox is a connection to the runner, with the descriptors that come with its
// greeting; the system drops those that come later. Whoever has it closes it.
type inbox struct {
	conn    *net.UnixConn
	lines   *bufio.Reader // of Read
	greeted bool
	fds     []int // no child inherits them
	came    int   // how many there were
	failed  bool  // some could not be taken
}

// frontPasses is how many descriptors a front sends, if any: its host's input and
// output.
const frontPasses = 2

// inboxRoom is for as many descriptors as a system sends at once: some leave open
// what finds no room.
const inboxRoom = 4 << 10

func newInbox(conn *net.UnixConn) *inbox {
	b := &inbox{conn: conn}
	b.lines = bufio.NewReaderSize(b, 64<<10)
	return b
}

// greeting is the first line. Only with wantServe are descriptors of use.
func (b *inbox) greeting() (g greeting, err error) {
	err = readLine(b.conn, b.lines, &g)
	if b.greeted = true; g.Want != wantServe {
		b.close()
	}
	return g, err
}

// Read has the connection's deadlines.
func (b *inbox) Read(p []byte) (n int, err error) {
	if b.greeted {
		return b.conn.Read(p)
	}
	raw, err := b.conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	waitErr := raw.Read(func(fd uintptr) bool {
		n, err = b.receive(int(fd), p)
		return !errors.Is(err, unix.EAGAIN)
	})
	if err = errors.Join(waitErr, err); err == nil && n == 0 {
		return 0, io.EOF
	}
	return max(n, 0), err
}

// receive keeps others from starting processes until those would not inherit what
// has come.
func (b *inbox) receive(fd int, p []byte) (int, error) {
	room := make([]byte, inboxRoom)
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	n, used, flags, _, err := unix.Recvmsg(fd, p, room, 0)
	for errors.Is(err, unix.EINTR) {
		n, used, flags, _, err = unix.Recvmsg(fd, p, room, 0)
	}
	b.failed = b.failed || flags&unix.MSG_CTRUNC != 0
	b.take(room[:used])
	return n, err
}

func (b *inbox) take(control []byte) {
	before := len(b.fds)
	all, err := unix.ParseSocketControlMessage(control)
	b.failed = b.failed || err != nil
	for _, m := range all {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue // something else
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
		}
		b.fds = append(b.fds, fds...)
	}
	if b.came = b.came + len(b.fds) - before; b.came > frontPasses {
		b.close()
	}
}

// check refuses whoever is no front.
func (b *inbox) check(g greeting) error {
	want := 0
	if g.Passed {
		want = frontPasses
	}
	if b.came != want && !b.failed {
		return fmt.Errorf("%d descriptors came with the greeting, in the place of %d: nothing was done with them, and nothing was sent to a server", b.came, want)
	}
	return nil
}

// streams are the host's own, if it can be served on them, and otherwise the
// connection, on which the front relays.
func (b *inbox) streams(log zerolog.Logger) streams {
	if fds := b.fds; len(fds) == frontPasses && !b.failed {
		b.fds = nil
		p, err := newPassed(b.conn, b.lines, fds)
		if err == nil {
			return streams{in: p.in.reader(), out: p.out, end: p.end, passed: true}
		}
		log.Info().Err(err).Msg("the window's own pipes cannot be used: it relays")
	}
	b.close()
	return streams{in: b.lines, out: b.conn, end: func() { _ = b.conn.Close() }}
}

// close is idempotent; the connection stays.
func (b *inbox) close() {
	for _, fd := range b.fds {
		_ = unix.Close(fd)
	}
	b.fds = nil
}
