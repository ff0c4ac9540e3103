//go:build unix

package e2e

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Some hosts give their child one socket for both directions: whatever the
// proxy does to the one must not harm the other.
func TestStdinAndStdoutAreOneSocket(t *testing.T) {
	ours, theirs := socketPair(t)
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	argv := p.argv(t)
	h := &host{t: t, cmd: exec.Command(argv[0], argv[1:]...), stdin: writeHalf{ours}, exited: make(chan struct{}), changed: make(chan struct{})}
	h.cmd.Stdin, h.cmd.Stdout = theirs, theirs
	h.pipes = append(h.pipes, ours)
	stderr := h.pipe(&h.cmd.Stderr)
	err := h.cmd.Start()
	_ = theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	h.attend(ours, stderr)
	h.initialize("2025-11-25")
	for i := range 10 {
		if m := h.ask(toolCall(raw(i), "flood", `{"bytes":300000}`)); m.Error != nil {
			t.Errorf("refused: %s", m.Raw)
		}
	}
	if status := h.stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// writeHalf is closed alone: what is still to be read stays.
type writeHalf struct{ *net.UnixConn }

func (w writeHalf) Close() error { return w.CloseWrite() }

func socketPair(t *testing.T) (ours *net.UnixConn, theirs *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	file := os.NewFile(uintptr(fds[0]), "ours")
	conn, err := net.FileConn(file) // a duplicate
	_ = file.Close()
	if err != nil {
		t.Fatal(err)
	}
	return conn.(*net.UnixConn), os.NewFile(uintptr(fds[1]), "theirs")
}
