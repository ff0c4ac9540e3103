//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Markers of what must stay where it is: the first is a credential, the others
// are what calls are about.
const (
	ofVariable = "sk-of-a-variable-77aa"
	ofArgument = "private-argument-88bb"
	ofAnswer   = "private-answer-99cc"
)

// What calls are about is in no log, at no level, as long as nobody asks for it,
// and a credential is nowhere at all.
func TestSecretsOfARunner(t *testing.T) {
	t.Parallel()
	s := newHouse(t)
	s.Host.Env = append(s.Host.Env, "E2E_TOKEN="+ofVariable)
	s.Config += "log_level: trace\n"
	h := s.window()
	s.talkInPrivate(h)
	runner := s.theRunner()
	if args := fmt.Sprint(marked(s.mark)); strings.Contains(args, ofVariable) {
		t.Errorf("a command line shows it: %s", args)
	}
	checkModes(t, s.StateDir)
	if err := syscall.Kill(runner.pid, syscall.SIGQUIT); err != nil { // all that its stacks say goes to the log
		t.Fatal(err)
	}
	s.await("the runner to tell what it was at", func() bool { return strings.Contains(s.log(), "SIGQUIT") })
	h.wait()
	for what, text := range map[string]string{"the log": s.log(), "stderr": h.stderr()} {
		for _, secret := range []string{ofVariable, ofArgument, ofAnswer} {
			if before, _, found := strings.Cut(text, secret); found {
				t.Errorf("%s has %s behind …%s", what, secret, before[max(0, len(before)-300):])
			}
		}
	}
	checkNotAtRest(t, s.StateDir, [][]byte{[]byte(ofVariable)})
}

// talkInPrivate has calls, tasks, failures and answers with markers in them.
func (s *house) talkInPrivate(h *host) {
	s.t.Helper()
	private := fmt.Sprintf(`{"x":%q,"%s":1}`, ofArgument, ofArgument)
	for _, tool := range []string{"echo", "fail", "rpcerror", "none"} {
		h.ask(plain.toolCall(h.freshID(), tool, private))
		pollTask(h, taskOf(s.t, h.ask(declared.toolCall(h.freshID(), tool, private))), terminal)
	}
	h.ask(plain.request(h.freshID(), "vendor/none", private))
	h.ask(plain.request(h.freshID(), "resources/read", `{"uri":"file:///`+ofArgument+`"}`))
	h.send(`{"` + ofArgument)
	h.take("the refusal", func(m message) bool { return m.code() == -32700 })
	asks := stateless{Tasks: true, Answers: true}
	id := taskOf(s.t, h.ask(asks.toolCall(h.freshID(), "ask", private)))
	m := pollTask(h, id, func(m message) bool { return m.text("status") == "input_required" })
	var asked map[string]any
	_ = json.Unmarshal(at(m.Result, "inputRequests"), &asked)
	if len(asked) == 0 {
		s.t.Fatalf("nothing is asked: %s", cut(m.Raw))
	}
	for key := range asked {
		h.ask(asks.request(h.freshID(), "tasks/update", fmt.Sprintf(
			`{"taskId":%q,"inputResponses":{%q:{"action":"accept","content":{"name":%q}},%q:7}}`, id, key, ofAnswer, ofAnswer)))
	}
	pollTask(h, id, terminal)
	h.send(declared.toolCall(h.freshID(), "crash", private))
	h.ask(declared.toolCall(h.freshID(), "gate", private))
}

// checkModes wants nothing in a state directory that others can look into.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone by now
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A proxy that crashes tells its stacks and ends by itself, so that the system
// writes no image of its memory to a disk.
func TestNoImageOfMemoryIsLeft(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV} {
		p, _ := proxyAround(t, "legacy")
		h := p.start(t)
		h.ask(plain.toolCall("1", "echo", fmt.Sprintf(`{"x":%q}`, ofArgument)))
		h.signal(sig)
		if status := h.wait(); status != 2 || strings.Contains(h.stderr(), ofArgument) {
			t.Errorf("%v: status %d\n%s", sig, status, cut(h.stderr()))
		}
	}
}
