//go:build unix

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// fake stands where a runner would, and answers every first line with the same.
type fake struct {
	mu    sync.Mutex
	lines []string
}

func (f *fake) heard() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.lines)
}

func fakeRunner(t *testing.T, path, answer string) *fake {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	mustDo(t, err)
	f := &fake{}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { f.serve(conn, answer) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); served.Wait() })
	return f
}

func (f *fake) serve(conn net.Conn, answer string) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	f.mu.Lock()
	f.lines = append(f.lines, line)
	f.mu.Unlock()
	_, _ = io.WriteString(conn, answer+"\n")
}

// caller is a window written by hand.
type caller struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (s *house) call() *caller {
	s.t.Helper()
	conn, err := net.Dial("unix", filepath.Join(s.StateDir, "runner.sock"))
	mustDo(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	mustDo(s.t, conn.SetDeadline(time.Now().Add(patience)))
	return &caller{s.t, conn, bufio.NewReader(conn)}
}

func (c *caller) say(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.conn, line+"\n")
	mustDo(c.t, err)
}

type welcome struct {
	Protocol       int
	PID            int
	Version        string
	Session, Error string
}

func (c *caller) welcome() (w welcome) {
	c.t.Helper()
	line, err := c.in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &w)
	}
	if err != nil {
		c.t.Fatalf("%v: %s", err, line)
	}
	return w
}

// ended waits for the other side's end.
func (c *caller) ended() {
	c.t.Helper()
	rest, err := io.ReadAll(c.in)
	if err != nil || len(rest) > 0 {
		c.t.Errorf("instead of the end: %q, %v", rest, err)
	}
}
