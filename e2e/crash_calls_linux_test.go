package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// crashCall is a call of which the host has heard so much before something died.
type crashCall struct {
	name, kind  string
	arguments   string
	request     string  // its raw id
	answer      message // Raw is empty until there is one
	task        string  // its id, once the answer names it
	seen        string  // the end that the host has seen
	run         int     // of the process that it was sent to
	open        bool    // nothing keeps it from its end
	sure        bool    // it is not made without a record
	cancelled   bool
	calls, ends int  // that the server has noted, of this name
	later       bool // by a process behind the one that it was sent to
	wasSeen     bool // its end, before the kill
}

// crashKinds are the tools by how they end, the likely ones more than once.
var crashKinds = []string{"echo", "echo", "echo", "fail", "rpcerror", "slow", "gate", "gate", "quiz"}

func (s *scene) newCall() *crashCall {
	c := &crashCall{name: fmt.Sprintf("%d-%d", s.run, len(s.tasks)+len(s.calls)), kind: crashKinds[s.random.IntN(len(crashKinds))]}
	c.name += fmt.Sprintf("-%x", s.random.Uint32())
	c.arguments = fmt.Sprintf(`{"trace":%q,"seconds":0.02,"file":%q,"gate":%q}`, c.name, s.doorOf(c), c.name)
	if c.kind == "quiz" {
		c.arguments = fmt.Sprintf(`{"trace":%q}`, c.name)
	}
	c.request, c.run = s.h.freshID(), s.run
	c.sure = s.always || s.way.older // a session asks for a task by itself
	return c
}

func (s *scene) doorOf(c *crashCall) string { return filepath.Join(s.dir, c.name) }

// unlock lets go a call that waits at its door.
func (s *scene) unlock(c *crashCall) {
	s.t.Helper()
	if c.kind == "gate" && !c.open {
		mustDo(s.t, os.WriteFile(s.doorOf(c), nil, 0o600))
	}
	c.open = true
}

func (s *scene) send(c *crashCall) {
	s.t.Helper()
	s.calls = append(s.calls, c)
	if s.way.older {
		s.h.send(older(c.request, c.kind, c.arguments))
	} else {
		s.h.send(both.toolCall(c.request, c.kind, c.arguments))
	}
}

// hear takes whatever has arrived.
func (s *scene) hear() (n int) {
	s.t.Helper()
	for ; ; n++ {
		m, _, ok := s.h.find(func(m message) bool { return m.Method == "" })
		if !ok {
			return n
		}
		s.heard(m)
	}
}

func (s *scene) heard(m message) {
	s.t.Helper()
	if c := s.polls[string(m.ID)]; c != nil {
		delete(s.polls, string(m.ID))
		if m.Error != nil {
			s.t.Errorf("the task of %s is lost: %s", c.name, m.Raw)
		} else if terminal(m) {
			c.seen, c.wasSeen = m.text("status"), true
		}
		return
	}
	for _, c := range s.calls {
		if c.request == string(m.ID) {
			c.answer, c.task = m, handleIn(m)
			if c.task != "" {
				s.tasks[c.task] = c
			}
		}
	}
}

// handleIn is the id in an answer that made a task, in the shape of either.
func handleIn(m message) string {
	if id := m.text("task", "taskId"); id != "" {
		return id
	}
	if m.text("resultType") == "task" {
		return m.text("taskId")
	}
	return ""
}

// poll asks for a task and does not wait for the answer.
func (s *scene) poll(c *crashCall) {
	s.t.Helper()
	if c.task == "" || c.seen != "" {
		return
	}
	id := s.h.freshID()
	s.polls[id] = c
	s.h.send(declared.request(id, "tasks/get", fmt.Sprintf(`{"taskId":%q}`, c.task)))
}

// count reads what the servers have noted of the calls of this cycle.
func (s *scene) count() {
	s.t.Helper()
	noted := s.seen.read(s.seen.effects)
	for _, c := range s.calls {
		c.calls = strings.Count(noted, "did "+c.name+" ")
		c.ends = strings.Count(noted, "said "+c.name+" ")
		c.later = c.calls > 0 && !strings.Contains(noted, fmt.Sprintf("did %s %d\n", c.name, c.run))
	}
}
