package e2e

import (
	"fmt"
	"testing"
)

// Answers, a cancel and a withdrawal that meet: the server gets one answer to
// each of its questions, and the task ends.
func TestServerGetsOneAnswerHoweverManyAreGiven(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Flags = []string{"--after", "1h"}
	h := p.start(t)
	const tasks, each = 20, 5
	for i := range tasks {
		id := taskOf(t, h.ask(both.quiz(h.freshID(), `{}`, "")))
		var sent []string
		for n := range each {
			sent = append(sent, h.freshID())
			method, params := "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{"elicitation-1":%s}}`, id, yes)
			if n == i%each {
				method, params = "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id)
			}
			h.send(both.request(sent[n], method, params))
		}
		for _, request := range sent {
			if m := h.response(request); m.Error != nil {
				t.Errorf("not acknowledged: %s", m.Raw)
			}
		}
		if m := pollTask(h, id, terminal); m.text("status") != "completed" && m.text("status") != "cancelled" || m.asked() != nil {
			t.Errorf("the task ended as %s", m.Raw)
		}
	}
	replies := func() map[string]int {
		count := map[string]int{}
		for _, line := range seen.received() {
			if m, err := parseMessage(line); err == nil && m.Method == "" {
				count[string(m.ID)]++
			}
		}
		return count
	}
	h.await("the server to get an answer to every question", func() bool { return len(replies()) >= tasks })
	for id, n := range replies() {
		if n != 1 {
			t.Errorf("question %s was answered %d times", id, n)
		}
	}
}

// Questions without end are cut off: the server is answered each that is too
// many, and the host can answer the others.
func TestMoreQuestionsThanACallMayHave(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Flags = []string{"--after", "1h"}
	h := p.start(t)
	const many = 300
	round := make([]string, many)
	for i := range round {
		round[i] = fmt.Sprintf("bare:q%d", i)
	}
	id := taskOf(t, h.ask(both.quiz("1", `{"rounds":[`+raw(round)+`]}`, "")))
	refused := func() (n int) {
		for _, line := range seen.received() {
			if m, err := parseMessage(line); err == nil && m.Method == "" {
				n++
			}
		}
		return n
	}
	var open []string
	h.await("every question to be open or refused", func() bool {
		open = pollTask(h, id, func(m message) bool { return m.asked() != nil }).asked()
		return len(open)+refused() == many
	})
	if len(open) == 0 || len(open) == many {
		t.Fatalf("%d of %d questions are open", len(open), many)
	}
	responses := map[string]any{}
	for _, key := range open {
		responses[key] = map[string]any{"action": "decline"}
	}
	h.update(id, raw(responses))
	finishTask(h, id, "completed")
}
