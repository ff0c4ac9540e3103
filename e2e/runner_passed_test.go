//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// wires are a window's standard input and output, both ends of each.
type wires struct {
	ourIn, theirIn   *os.File
	ourOut, theirOut *os.File
}

// wirings are what hosts make: Node has a pair of sockets for each.
var wirings = map[string]func(fds []int) error{
	"pipes": syscall.Pipe,
	"sockets": func(fds []int) error {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		copy(fds, pair[:])
		return err
	},
}

// newWires leaves the window's ends in blocking mode, unless nonBlock says that the
// host has changed it.
func newWires(t *testing.T, wiring string, nonBlock bool) *wires {
	t.Helper()
	w := &wires{}
	w.theirIn, w.ourIn = wired(t, wiring, nonBlock, true)
	w.ourOut, w.theirOut = wired(t, wiring, true, nonBlock)
	t.Cleanup(func() { w.leave(); _ = w.ourIn.Close(); _ = w.ourOut.Close() })
	return w
}

// wired has the modes be set behind the back of package os, which would undo that.
func wired(t *testing.T, wiring string, readerNonBlock, writerNonBlock bool) (r, w *os.File) {
	t.Helper()
	fds := make([]int, 2)
	mustDo(t, wirings[wiring](fds))
	for i, nonBlock := range []bool{readerNonBlock, writerNonBlock} {
		syscall.CloseOnExec(fds[i])
		mustDo(t, syscall.SetNonblock(fds[i], nonBlock))
	}
	return os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
}

// leave closes the window's ends. Until then the test sees their modes, and no end.
func (w *wires) leave() {
	_ = w.theirIn.Close()
	_ = w.theirOut.Close()
}

// on is a window on wires. Nobody reads what it says if the host is deaf.
func (s *house) on(w *wires, deaf bool) *host {
	s.t.Helper()
	h := &host{t: s.t, cmd: s.windowOn(w), stdin: w.ourIn, exited: make(chan struct{}), changed: make(chan struct{})}
	stderr := h.pipe(&h.cmd.Stderr)
	mustDo(s.t, h.cmd.Start())
	if deaf {
		s.t.Cleanup(h.cleanup)
		h.readers.Go(func() { h.drain(stderr) })
		h.readers.Go(func() { _ = h.cmd.Wait(); h.lastWords(); close(h.exited) })
		return h
	}
	h.pipes = append(h.pipes, w.ourOut)
	h.attend(w.ourOut, stderr)
	return h
}

func (s *house) windowOn(w *wires) *exec.Cmd {
	s.t.Helper()
	argv := s.argv(s.t)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append(raceOptions(), os.Environ()...), s.Host.Env...)
	cmd.Stdin, cmd.Stdout = w.theirIn, w.theirOut
	return cmd
}

// nonBlocking does not change the mode by looking, as Fd does.
func nonBlocking(t *testing.T, file *os.File) (is bool) {
	t.Helper()
	raw, err := file.SyscallConn()
	mustDo(t, err)
	mustDo(t, raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		is = err == nil && flags&unix.O_NONBLOCK != 0
	}))
	return is
}

// nameOf is what filesOf calls it.
func nameOf(t *testing.T, file *os.File) (name string) {
	t.Helper()
	raw, err := file.SyscallConn()
	mustDo(t, err)
	mustDo(t, raw.Control(func(fd uintptr) { name, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)) }))
	mustDo(t, err)
	return name
}

// holders are the processes that have a file, but for the window itself.
func (s *house) holders(window *exec.Cmd, file *os.File) (all []process) {
	s.t.Helper()
	name := nameOf(s.t, file)
	for _, p := range marked(s.mark) {
		if p.pid != window.Process.Pid && filesOf(p.pid)[name] {
			all = append(all, p)
		}
	}
	return all
}

// isPassed insists on the runner, and nobody else, having the window's streams.
func (s *house) isPassed(h *host, w *wires) {
	s.t.Helper()
	for _, file := range []*os.File{w.theirIn, w.theirOut} {
		if all := s.holders(h.cmd, file); len(all) != 1 || !all[0].isRunner() {
			s.t.Errorf("%s is had by %v", nameOf(s.t, file), all)
		}
	}
}

// isLeft waits until nobody has them any more.
func (s *house) isLeft(h *host, w *wires) {
	s.t.Helper()
	s.await("the window's streams to be let go of", func() bool {
		return len(s.holders(h.cmd, w.theirIn)) == 0 && len(s.holders(h.cmd, w.theirOut)) == 0
	})
}
