package conformance

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for a process. Nothing is measured with it.
const patience = 30 * time.Second

// server is a child process that serves on addr until the end of the test.
type server struct {
	t      *testing.T
	cmd    *exec.Cmd
	addr   string
	clean  bool          // it must end with status 0, as the proxy does
	stop   func()        // asks it to end, and kills it some seconds later
	exited chan struct{} // closed when it was waited for
	err    error         // what Wait returned
	stderr lines
}

// URL is its endpoint.
func (s *server) URL() string { return "http://" + s.addr + "/mcp" }

// serve starts a command that gets the address in place of "ADDR" and returns
// when it accepts connections.
func serve(t *testing.T, clean bool, argv ...string) *server {
	t.Helper()
	s := &server{t: t, addr: freeAddr(t), clean: clean, exited: make(chan struct{})}
	for i, arg := range argv {
		argv[i] = strings.ReplaceAll(arg, "ADDR", s.addr)
	}
	ctx, stop := context.WithCancel(context.Background()) // t.Context ends before the cleanups that come first
	s.stop, s.cmd = stop, exec.CommandContext(ctx, argv[0], argv[1:]...)
	s.cmd.Stderr, s.cmd.WaitDelay = &s.stderr, 10*time.Second
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	if err := s.cmd.Start(); err != nil {
		stop()
		t.Fatalf("starting %q: %v", argv, err)
	}
	go func() { s.err = s.cmd.Wait(); close(s.exited) }()
	t.Cleanup(s.end)
	s.awaitPort()
	return s
}

// freeAddr is one that nobody listened on a moment ago.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *server) awaitPort() {
	s.t.Helper()
	late, again := time.NewTimer(patience), time.NewTicker(20*time.Millisecond)
	defer late.Stop()
	defer again.Stop()
	for {
		if conn, err := net.Dial("tcp", s.addr); err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-again.C:
		case <-s.exited:
			s.t.Fatalf("%s ended before it served: %v\n%s", filepath.Base(s.cmd.Path), s.err, s.stderr.String())
		case <-late.C:
			s.t.Fatalf("%s did not serve on %s within %v\n%s", filepath.Base(s.cmd.Path), s.addr, patience, s.stderr.String())
		}
	}
}

// end waits for the process; the race detector speaks through its exit status too.
func (s *server) end() {
	s.stop()
	<-s.exited
	if status := s.cmd.ProcessState.ExitCode(); s.clean && status != 0 {
		s.t.Errorf("%s: %v", filepath.Base(s.cmd.Path), s.cmd.ProcessState)
	}
	if s.t.Failed() {
		s.t.Logf("%q, last lines of stderr:\n%s", s.cmd.Args, s.stderr.String())
	}
}

// lines keeps the end of what is written to it.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	const most = 16 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buf.Len() > most {
		l.buf.Next(l.buf.Len() - most/2)
	}
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
