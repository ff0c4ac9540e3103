//go:build unix

package runner

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
)

// greet says what is wanted and takes the welcome.
func greet(conn *net.UnixConn, r *bufio.Reader, g greeting) (welcome, error) {
	g.Protocol, g.PID = protocol, os.Getpid()
	if err := writeLine(conn, g); err != nil {
		return welcome{}, noAnswer(conn, err)
	}
	var w welcome
	if err := readLine(conn, r, &w); err != nil {
		return welcome{}, noAnswer(conn, err)
	}
	switch {
	case w.Error != "":
		return w, errors.New(w.Error)
	case w.Protocol != protocol && g.Want != wantList && g.Want != wantStop:
		return w, errors.New(skew(w, g, g.dir))
	}
	return w, nil
}

// noAnswer tells a runner that has ended from one that hangs.
func noAnswer(conn *net.UnixConn, err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return &lostError{err}
	}
	who := ""
	if pid := peerOf(conn); pid != 0 {
		who = fmt.Sprintf(" (process %d)", pid)
	}
	return fmt.Errorf("the runner%s is there, and has not answered for %v: wait and try again, or end it with kill -9: tasks that were running fail then, results stay", who, greetLimit)
}

// lostError: there was somebody, and now there is not.
type lostError struct{ cause error }

func (e *lostError) Error() string { return "the runner does not answer: " + e.cause.Error() }
func (e *lostError) Unwrap() error { return e.cause }

// skew is what a window and a runner say that do not understand each other.
func skew(runner welcome, window greeting, dir string) string {
	return fmt.Sprintf("the runner (process %d, version %s) speaks version %d of the protocol between windows, this window (version %s) version %d: "+
		"close the other windows of this server, or end the runner with mcp-taskproxy stop --state-dir %s; results stay",
		runner.PID, runner.Version, runner.Protocol, window.Version, window.Protocol, dir)
}
