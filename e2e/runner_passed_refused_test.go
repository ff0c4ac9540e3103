//go:build unix

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What the host shares with others, or what is no pipe, the runner is not given: the
// window relays.
func TestStreamsThatAreNotPassed(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, *exec.Cmd, *wires){
		"one socket for both":        func(_ *testing.T, cmd *exec.Cmd, w *wires) { cmd.Stdin, w.ourIn = w.theirOut, w.ourOut },
		"errors go there, too":       func(_ *testing.T, cmd *exec.Cmd, w *wires) { cmd.Stderr = w.theirOut },
		"errors go to the input":     func(_ *testing.T, cmd *exec.Cmd, w *wires) { cmd.Stderr = w.theirIn },
		"the output is a file":       func(t *testing.T, cmd *exec.Cmd, w *wires) { cmd.Stdout = newFile(t, w) },
		"the output is a named pipe": nil, // which is passed
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			w := newWires(t, "sockets", false)
			cmd := s.windowOn(w)
			passed := prepare == nil
			if passed {
				cmd.Stdout = newNamedPipe(t, w)
			} else {
				prepare(t, cmd, w)
			}
			mustDo(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			_, err := io.WriteString(w.ourIn, plain.toolCall(`"mine"`, "release", `{}`)+"\n")
			mustDo(t, err)
			awaitAnswer(t, w.ourOut)
			for _, file := range []any{cmd.Stdin, cmd.Stdout} {
				if all := s.holders(cmd, file.(*os.File)); (len(all) > 0) != passed {
					t.Errorf("%s is had by %v", nameOf(t, file.(*os.File)), all)
				}
			}
		})
	}
}

// newFile has what is written to a file be read from it.
func newFile(t *testing.T, w *wires) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(name)
	mustDo(t, err)
	t.Cleanup(func() { _ = file.Close() })
	w.ourOut, err = os.Open(name)
	mustDo(t, err)
	return file
}

func newNamedPipe(t *testing.T, w *wires) (writer *os.File) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out")
	mustDo(t, unix.Mkfifo(name, 0o600))
	var err error
	w.ourOut, err = os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	mustDo(t, err)
	writer, err = os.OpenFile(name, os.O_WRONLY, 0)
	mustDo(t, err)
	t.Cleanup(func() { _ = writer.Close() })
	return writer
}

// awaitAnswer polls, as what is not yet in a file looks like its end.
func awaitAnswer(t *testing.T, from *os.File) {
	t.Helper()
	var all strings.Builder
	late := time.Now().Add(patience)
	_ = from.SetReadDeadline(late) // a file has none, and needs none
	for !strings.Contains(all.String(), `"mine"`) {
		if _, err := io.Copy(&all, io.LimitReader(from, 1)); err != nil || time.Now().After(late) {
			t.Fatalf("no answer: %q, %v", all.String(), err)
		}
	}
}

// A caller that is no window may send what it likes: the runner keeps none of it, and
// serves on none of it.
func TestDescriptorsThatNoWindowSends(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	for name, test := range map[string]struct {
		line    string // %s is for a session
		count   int
		refused bool
	}{
		"none, as said":       {`"want":"serve","session":%q,"passed":true`, 0, true},
		"one":                 {`"want":"serve","session":%q,"passed":true`, 1, true},
		"three":               {`"want":"serve","session":%q,"passed":true`, 3, true},
		"all that can be":     {`"want":"serve","session":%q,"passed":true`, 253, true},
		"two, without a word": {`"want":"serve","session":%q`, 2, true},
		"two that are files":  {`"want":"serve","session":%q,"passed":true`, 2, false},
		"two for a side":      {`"want":"side","passed":true,"x":%q`, 2, false},
		"two for a list":      {`"want":"list","passed":true,"x":%q`, 2, false},
	} {
		file, err := os.Create(filepath.Join(t.TempDir(), "file"))
		mustDo(t, err)
		side, c := s.call(), s.call()
		side.say(`{"protocol":1,"version":"v","pid":1,"want":"side"}`)
		c.sayWith(file, test.count, `{"protocol":1,"version":"v","pid":1,"server":{"MessageBytes":1000000},"command":{"Args":["eA=="]},`+
			fmt.Sprintf(test.line, side.welcome().Session)+"}")
		if w := c.welcomeOf(); (w.Error != "") != test.refused || w.Passed || test.refused && !strings.Contains(w.Error, fmt.Sprint(test.count)) {
			t.Errorf("%s: %+v", name, w)
		}
		s.await(name+" to be closed", func() bool { return !filesOf(s.theRunner().pid)[file.Name()] })
		_, _ = c.conn.Close(), side.conn.Close()
		_ = file.Close()
	}
	h.open()
}

// sayWith sends a line with as many descriptors of a file.
func (c *caller) sayWith(file *os.File, count int, line string) {
	c.t.Helper()
	raw, err := file.SyscallConn()
	mustDo(c.t, err)
	var sendErr error
	mustDo(c.t, raw.Control(func(fd uintptr) {
		var rights []byte
		if all := make([]int, count); count > 0 {
			for i := range all {
				all[i] = int(fd)
			}
			rights = unix.UnixRights(all...)
		}
		_, _, sendErr = c.conn.(*net.UnixConn).WriteMsgUnix([]byte(line+"\n"), rights, nil)
	}))
	mustDo(c.t, sendErr)
}

type passedWelcome struct {
	Error  string
	Passed bool
}

func (c *caller) welcomeOf() (w passedWelcome) {
	c.t.Helper()
	line, err := c.in.ReadBytes('\n')
	mustDo(c.t, err)
	mustDo(c.t, json.Unmarshal(line, &w))
	return w
}

// A runner of a version that knows nothing of it is sent the host's bytes.
func TestWindowRelaysForARunnerThatTakesNoStreams(t *testing.T) {
	for wiring := range wirings {
		t.Run(wiring, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			mustDo(t, os.Mkdir(s.StateDir, 0o700))
			socket := filepath.Join(s.StateDir, "runner.sock")
			l, err := net.Listen("unix", socket)
			mustDo(t, err)
			defer os.Remove(socket)
			defer l.Close()
			w := newWires(t, wiring, false)
			h := s.on(w, false)
			side, main := acceptOlder(t, l), acceptOlder(t, l)
			h.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
			line, err := main.ReadString('\n')
			mustDo(t, err)
			_, err = io.WriteString(main.conn, strings.Replace(line, `"method":"x"`, `"result":{}`, 1))
			mustDo(t, err)
			h.response("1")
			_ = h.stdin.Close()
			if _, err := main.ReadByte(); err != io.EOF {
				t.Errorf("instead of the end of the input: %v", err)
			}
			_, err = io.WriteString(side.conn, `{"end":true}`+"\n")
			mustDo(t, err)
			_, _ = main.conn.Close(), side.conn.Close()
			if status := h.wait(); status != 0 {
				t.Errorf("status %d: %s", status, h.stderr())
			}
		})
	}
}

type olderConn struct {
	*bufio.Reader
	conn net.Conn
}

func acceptOlder(t *testing.T, l net.Listener) olderConn {
	t.Helper()
	conn, err := l.Accept()
	mustDo(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	mustDo(t, conn.SetDeadline(time.Now().Add(patience)))
	c := olderConn{bufio.NewReader(conn), conn}
	_, err = c.ReadString('\n')
	mustDo(t, err)
	_, err = io.WriteString(conn, `{"protocol":1,"version":"v0","pid":1,"session":"s"}`+"\n")
	mustDo(t, err)
	return c
}
