//go:build unix

package runner

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// passedIn reads what there is and otherwise waits on Go's poller, in whatever mode
// the stream is: others share the mode, and may change it.
type passedIn struct {
	file *os.File
	raw  syscall.RawConn
}

func newPassedIn(fd int) (*passedIn, error) {
	file, nonBlock, err := pollable(fd, "the host's input")
	if err != nil {
		return nil, err
	}
	withFD(file, func(fd int) { _ = unix.SetNonblock(fd, nonBlock) })
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &passedIn{file, raw}, nil
}

// reader is the way to read it that costs least.
func (p *passedIn) reader() io.Reader { return wire.FileReader(p.file, p) }

// Read has io.EOF for whatever ends it: all of it means that the host is gone.
func (p *passedIn) Read(b []byte) (n int, err error) {
	waitErr := p.raw.Read(func(fd uintptr) bool {
		if !isReadable(int(fd)) {
			return false
		}
		n, err = unix.Read(int(fd), b)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Read(int(fd), b)
		}
		return !errors.Is(err, unix.EAGAIN)
	})
	if waitErr != nil || err != nil || n <= 0 {
		return 0, io.EOF
	}
	return n, nil
}

// isReadable says that a read would not wait.
func isReadable(fd int) bool {
	look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(look, 0)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(look, 0)
	}
	return n > 0 || err != nil
}

// passedOut is written without waiting for the host, which would hold up the runner:
// in non-blocking mode, which others share and may have changed since.
type passedOut struct {
	file     *os.File
	raw      syscall.RawConn
	nonBlock bool // the mode that the host has given it
	again    int  // a second descriptor: the mode is set back when nobody writes any more
	failed   func()
}

func newPassedOut(fd int) (*passedOut, error) {
	again, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	file, nonBlock, err := pollable(fd, "the host's output")
	if err != nil {
		return nil, errors.Join(err, unix.Close(again))
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, file.Close(), unix.SetNonblock(again, nonBlock), unix.Close(again))
	}
	return &passedOut{file: file, raw: raw, nonBlock: nonBlock, again: again}, nil
}

// SyscallConn lets package wire try what can be written at once, which never waits in
// whatever mode the stream is.
func (p *passedOut) SyscallConn() (syscall.RawConn, error) { return p.raw, nil }

func (p *passedOut) Write(b []byte) (written int, err error) {
	for written < len(b) && err == nil {
		n := 0
		waitErr := p.raw.Write(func(fd uintptr) bool {
			if !nonBlocking(int(fd)) {
				_ = unix.SetNonblock(int(fd), true)
			}
			n, err = unix.Write(int(fd), b[written:])
			return !errors.Is(err, unix.EAGAIN)
		})
		if waitErr != nil {
			err = waitErr
		} else if errors.Is(err, unix.EINTR) {
			err = nil
		}
		written += max(n, 0)
	}
	if err != nil {
		p.failed()
	}
	return written, err
}

// release is for once.
func (p *passedOut) release() {
	_ = p.file.Close()
	_ = unix.SetNonblock(p.again, p.nonBlock)
	_ = unix.Close(p.again)
}

// pollable puts a pipe or a socket into non-blocking mode, so that Go's poller
// takes it, and says what mode it had. With an error it is closed, and in that mode.
func pollable(fd int, name string) (file *os.File, nonBlock bool, err error) {
	nonBlock = nonBlocking(fd)
	if err := checkChannel(fd); err != nil {
		return nil, nonBlock, errors.Join(err, unix.Close(fd))
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, nonBlock, errors.Join(err, unix.Close(fd))
	}
	file = os.NewFile(uintptr(fd), name)
	if err := file.SetDeadline(time.Time{}); err != nil { // it is not the poller's
		_ = unix.SetNonblock(fd, nonBlock)
		return nil, nonBlock, errors.Join(err, file.Close())
	}
	return file, nonBlock, nil
}

func checkChannel(fd int) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if kind := stat.Mode & unix.S_IFMT; kind != unix.S_IFIFO && kind != unix.S_IFSOCK {
		return errors.New("neither a pipe nor a socket")
	}
	return nil
}
