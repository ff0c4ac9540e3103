package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// settle has every call of the cycle come to its end, and judges it.
func (s *scene) settle() {
	s.t.Helper()
	for _, c := range s.calls {
		s.unlock(c)
	}
	stayed := s.h != nil
	s.enter()
	if stayed {
		s.h.await("all answers", func() bool { s.hear(); return !slices.ContainsFunc(s.calls, (*crashCall).isUnheard) })
	}
	var records []*crashCall
	audited := s.isAudited()
	if audited {
		records = s.unheard()
	}
	ends := s.finish(append(s.tasksOf(), records...))
	s.count()
	s.judge(ends)
	if audited {
		s.audit(len(records))
	}
}

// isAudited says whether records are looked for of which nobody knows: also of the
// calls of earlier cycles. It costs a session. In what is asked of one of them another
// task's question may be.
func (s *scene) isAudited() bool {
	asks := func(c *crashCall) bool { return c.kind == "quiz" }
	return s.way.older || s.way.detached || slices.ContainsFunc(s.calls, asks) || slices.ContainsFunc(s.owed, asks) || s.random.IntN(3) == 0
}

func (s *scene) judge(ends map[*crashCall]message) {
	s.t.Helper()
	for c, end := range ends {
		if fault := s.judgeTask(c, end); fault != "" {
			s.t.Errorf("%s %s: %s: called %d times, %s", c.kind, c.name, fault, c.calls, end.Raw)
		}
		c.seen = end.text("status")
		if s.killed && c.kind != "" {
			s.counts.add(s.row(), c.class(end), 1)
		}
	}
	for _, c := range s.calls {
		if fault := c.judgeAnswer(); fault != "" {
			s.t.Errorf("%s %s: %s: called %d times, answered %s", c.kind, c.name, fault, c.calls, c.answer.Raw)
		}
		if c.isUnheard() {
			s.owed = append(s.owed, c)
		}
	}
}

// audit compares calls that were not answered with the records of which nobody knows:
// those of a proxy that was killed may have one; and if every call is a task, those
// that were made must.
func (s *scene) audit(records int) {
	s.t.Helper()
	called, sure := 0, true
	for _, c := range s.owed {
		called, sure = called+c.calls, sure && c.sure
	}
	if records > len(s.owed) || sure && called > records {
		s.t.Errorf("of %d calls without an answer %d were made, and %d have a record", len(s.owed), called, records)
	}
	if s.killed {
		s.counts.add(s.row(), "record, no handle", records)
	}
	if s.killed && sure {
		s.counts.add(s.row(), "no record", len(s.owed)-records)
	}
	s.owed = nil
}

func (c *crashCall) isUnheard() bool { return c.answer.Raw == "" }

func (s *scene) tasksOf() (all []*crashCall) {
	for _, c := range s.calls {
		if c.task != "" {
			all = append(all, c)
		}
	}
	return all
}

// unheard are the tasks of which there is a record, and no host knows.
func (s *scene) unheard() (all []*crashCall) {
	s.t.Helper()
	s.session()
	m := s.h.ask(request(s.h.freshID(), "tasks/list", `{}`))
	var newest []struct{ TaskID string }
	if err := json.Unmarshal(at(m.Result, "tasks"), &newest); err != nil {
		s.t.Fatalf("%v: %s", err, cut(m.Raw))
	}
	for _, task := range newest {
		if s.tasks[task.TaskID] == nil {
			c := &crashCall{name: "unheard", task: task.TaskID}
			s.tasks[c.task] = c
			all = append(all, c)
		}
	}
	return all
}

// finish sees tasks to their ends. What they ask is answered, or they are cancelled:
// another may wait for that, as a server need not say which of its calls it asks in.
func (s *scene) finish(all []*crashCall) map[*crashCall]message {
	s.t.Helper()
	ends := map[*crashCall]message{}
	s.await("every task to end", func() bool {
		for _, c := range all {
			if _, ended := ends[c]; ended {
				continue
			}
			m := s.h.ask(declared.request(s.h.freshID(), "tasks/get", fmt.Sprintf(`{"taskId":%q}`, c.task)))
			if terminal(m) || m.Error != nil {
				ends[c] = m
			} else if asked := m.asked(); len(asked) > 0 {
				s.reply(c, asked)
			}
		}
		return len(ends) == len(all)
	})
	return ends
}

func (s *scene) reply(c *crashCall, asked []string) {
	s.t.Helper()
	if s.way.older || s.random.IntN(2) == 0 {
		c.cancelled = true
		s.h.cancelTask(c.task)
		return
	}
	for _, key := range asked {
		s.h.update(c.task, fmt.Sprintf(`{%q:%s}`, key, yes))
	}
}

// judgeTask says what is wrong with how a task has ended.
func (s *scene) judgeTask(c *crashCall, m message) string {
	why, outcome := reason(at(m.Result, "error"))
	switch status := m.text("status"); {
	case m.Error != nil:
		return "it is lost"
	case c.wasSeen && c.seen != status:
		return "it was " + c.seen
	case c.calls > 1:
		return "it was called more than once"
	case status == "cancelled" && c.cancelled:
	case status == "failed" && why == "" && c.kind == "rpcerror" && c.calls == 1, status == "failed" && why == "" && c.kind == "":
	case status == "failed" && outcome == "unknown", status == "failed" && outcome == "not_dispatched" && c.calls == 0:
	case status == "completed" && c.kind == "", status == "completed" && c.calls == 1 && c.isResult(at(m.Result, "result")):
	default:
		return "it has no right to be so"
	}
	return ""
}

// isResult says whether that is what the tool makes of these arguments.
func (c *crashCall) isResult(result json.RawMessage) bool {
	switch said := firstText(result); c.kind {
	case "echo":
		return said == "echo" && string(at(result, "structuredContent")) == c.arguments && strings.Contains(string(result), oddMembers)
	case "fail":
		return string(at(result, "isError")) == "true" && string(at(result, "structuredContent", "code")) == "28"
	default:
		return said == map[string]string{"slow": "done after 0.02s", "gate": "gate open", "quiz": "quizzed"}[c.kind]
	}
}

// judgeAnswer is about a call that was answered without a task, or not at all.
func (c *crashCall) judgeAnswer() string {
	why, outcome := reason(c.answer.Error)
	switch {
	case c.calls > 1:
		return "it was called more than once"
	case c.isUnheard(), c.task != "":
	case c.answer.Error != nil && (outcome == "unknown" || outcome == "not_dispatched" && c.calls == 0):
	case c.answer.Error != nil && why == "" && c.kind == "rpcerror" && c.calls == 1:
	case c.answer.Error == nil && c.calls == 1 && c.isResult(c.answer.Result):
	default:
		return "it has no right to be so"
	}
	return ""
}
