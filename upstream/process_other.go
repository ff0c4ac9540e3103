//go:build unix && !linux

package upstream

import (
	"os"
	"sync"
	"syscall"

	"github.com/rs/zerolog"
)

// family is a child and its process group. What leaves the group (setsid, a shell with job control) is not found here,
// and nothing ends the child when we are killed but the end of its stdin.
type family struct {
	mu     sync.Mutex
	pid    int
	reaped bool
	empty  bool // the group is gone and its number may be used again
}

func newFamily(*childPipes, zerolog.Logger) *family { return &family{} }

func (f *family) attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (f *family) started(child *os.Process) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pid = child.Pid
	return nil
}

// parentGone checks at once whether the group outlives the child: as long as it does, its number cannot be used again.
func (f *family) parentGone() {
	f.mu.Lock()
	f.reaped = true
	f.mu.Unlock()
	f.signal(0)
}

func (f *family) look()       {}
func (f *family) forget()     {}
func (f *family) terminate()  { f.signal(syscall.SIGTERM) }
func (f *family) killOnce()   { f.signal(syscall.SIGKILL) }
func (f *family) pids() []int { return []int{f.pid} }

func (f *family) settled() bool {
	f.signal(0)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.empty
}

func (f *family) signal(sig syscall.Signal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.empty {
		return
	}
	if err := syscall.Kill(-f.pid, sig); err != nil && f.reaped {
		f.empty = true
	}
}
