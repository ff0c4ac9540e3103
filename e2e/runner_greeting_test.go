//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A runner of another version, which this program cannot talk to: one line, and
// nothing of that runner is touched.
func TestRunnerThatSpeaksAnotherVersion(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	mustDo(t, os.Mkdir(s.StateDir, 0o700))
	f := fakeRunner(t, filepath.Join(s.StateDir, "runner.sock"), `{"protocol":99,"version":"v9.9.9","pid":4321,"later":{"x":1},"listing":{"pid":4321,"state_dir":"`+s.StateDir+`"}}`)
	s.refused(s.start(t), "process 4321", "v9.9.9", "99", "mcp-taskproxy stop")
	if left := s.runners(); len(left) != 0 {
		t.Errorf("another runner was started: %v", left)
	}
	for _, line := range f.heard() {
		if strings.Contains(line, `"server":`) {
			t.Errorf("it was told everything: %s", cut(line))
		}
	}
	before := len(f.heard())
	_, stderr, _ := s.command(t, "stop")
	if told := strings.Join(f.heard()[before:], ""); !strings.Contains(told, `"want":"stop"`) {
		t.Errorf("stop, which the line above says to use, told it only %q and said %q", told, stderr)
	}
}

// A window of another version is refused with one line; whoever wants the runner
// to stop is understood, whatever the version.
func TestWindowThatSpeaksAnotherVersion(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	pid := s.theRunner().pid
	c := s.call()
	c.say(`{"protocol":99,"version":"v9.9.9","pid":1,"want":"side","later":[1]}`)
	w := c.welcome()
	for _, fact := range []string{"v9.9.9", fmt.Sprintf("process %d", pid), "99", "mcp-taskproxy stop"} {
		if !strings.Contains(w.Error, fact) {
			t.Errorf("%q is not said: %q", fact, w.Error)
		}
	}
	c.ended()
	h.open()
	c = s.call()
	c.say(`{"protocol":99,"version":"v9.9.9","pid":1,"want":"stop"}`)
	if w := c.welcome(); w.Error != "" {
		t.Errorf("a stop is refused: %s", w.Error)
	}
	c.ended()
}

// What nobody means harms nobody.
func TestCallersThatMakeNoSense(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	h := s.window()
	for _, line := range []string{
		`GET / HTTP/1.1`, `[]`, `{}`, `null`, `{"protocol":"1"}`, `{"protocol":1,"version":"v","want":"tea"}`,
		`{"protocol":1,"version":"v","want":"serve"}`, `{"protocol":1,"version":"v","want":"serve","session":"x","server":{}}`,
	} {
		c := s.call()
		c.say(line)
		rest, err := io.ReadAll(c.in)
		if err != nil || strings.Count(string(rest), "\n") > 1 {
			t.Errorf("%s is answered %q, %v", line, rest, err)
		}
	}
	silent := s.call()
	defer silent.conn.Close()
	endless := s.call()
	for range 17 {
		if _, err := io.WriteString(endless.conn, strings.Repeat("x", 1<<20)); err != nil {
			break
		}
	}
	if _, err := endless.in.ReadByte(); err == nil {
		t.Error("a first line without end is answered")
	}
	h.open()
	s.window()
}

// A window that says what it wants only when the runner has closed its store is
// too late. It is not welcomed, so that it can go to the next runner, and nothing
// is called that could not be kept.
func TestWindowThatComesWhileTheRunnerEnds(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	s.window()
	runner := s.theRunner().pid
	side, late, stop := s.call(), s.call(), s.call()
	side.say(`{"protocol":1,"version":"v","pid":1,"want":"side"}`)
	session := side.welcome().Session
	stop.say(`{"protocol":1,"version":"v","pid":1,"want":"stop"}`)
	stop.welcome()
	s.await("the runner to close its store", func() bool { return !s.keeps(runner) })
	_, _ = io.WriteString(late.conn, lateWindow(s, session)) // it may have hung up
	if answer, _ := io.ReadAll(late.in); len(answer) > 0 {
		t.Errorf("it is answered %q", answer)
	}
	if n := s.seen.count("call release"); n != 1 {
		t.Error("a runner that was ending has made a call")
	}
}

// keeps says whether the process has a file of the store open.
func (s *house) keeps(pid int) bool {
	for file := range filesOf(pid) {
		if strings.HasPrefix(file, s.StateDir) && !strings.HasSuffix(file, ".log") {
			return true
		}
	}
	return false
}

// lateWindow is a window's whole second connection, with a call in it.
func lateWindow(s *house, session string) string {
	argv, _ := json.Marshal(s.Upstream) // strings have an encoding
	return fmt.Sprintf(`{"protocol":1,"version":"v","pid":1,"want":"serve","session":%q,"server":{"Upstream":{"Args":%s},"MessageBytes":1000000}}`, session, argv) +
		"\n" + plain.toolCall("1", "release", `{}`) + "\n"
}
