package host

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// isAsked waits for a question of the task.
func (h *talker) isAsked(id string) wire.Message {
	h.t.Helper()
	m := h.hears("a question", calls("elicitation/create"))
	if got := string(wire.Lookup(m.Params(), "_meta", metaRelatedTask)); got != taskParams(id) {
		h.t.Errorf("the question names %s, want task %s", got, id)
	}
	return m
}

func (h *talker) answersQuestion(question wire.Message, answer string) {
	h.t.Helper()
	h.say(`{"jsonrpc":"2.0","id":` + string(question.ID()) + `,` + answer + `}`)
}

func (h *talker) resultText(id string) string {
	h.t.Helper()
	m := h.asks("resultText", "tasks/result", taskParams(id))
	return string(wire.Get(m.Result(), "content"))
}

func TestQuestionOfATaskReachesTheHostAtOnce(t *testing.T) {
	for answer, want := range map[string]string{
		`"result":{"action":"accept","content":{"n":1.0},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"x"}}}`: `{\"action\":\"accept\",\"content\":{\"n\":1.0}}`,
		`"result":{"action":"decline"}`:                           "declined or refused",
		`"error":{"code":-32603,"message":"there is no window."}`: "declined or refused",
	} {
		h := newOlderHost(t, Options{})
		id := h.makes("ask")
		question := h.isAsked(id)
		h.becomes(id, "input_required")
		h.answersQuestion(question, answer)
		if got := h.resultText(id); !strings.Contains(got, want) {
			t.Errorf("answered with %s: the server made %s of it, want %s", answer, got, want)
		}
		h.hasNot("the question once more", calls("elicitation/create"))
		h.hasNot("a withdrawal of what was answered", calls("notifications/cancelled"))
	}
}

// openInput waits until the task asks something, and returns the key.
func openInput(t *testing.T, h *talker, id string) (key string) {
	t.Helper()
	watch, err := h.core.Watch("", id)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for key == "" {
		task, err := watch.Next(ctx)
		if err != nil {
			t.Fatalf("the task asks nothing: %v", err)
		}
		wire.Each(task.Inputs, func(k string, _ []byte) { key = k })
	}
	return key
}

func TestQuestionThatWasAnsweredElsewhereIsWithdrawn(t *testing.T) {
	h := newOlderHost(t, Options{})
	id := h.makes("ask")
	question := h.isAsked(id)
	responses := wire.Set(nil, openInput(t, h, id), []byte(`{"action":"accept"}`))
	if err := h.core.UpdateTask("", id, responses); err != nil {
		t.Fatal(err)
	}
	withdrawn := h.hears("the withdrawal", calls("notifications/cancelled"))
	if string(wire.Get(withdrawn.Params(), "requestId")) != string(question.ID()) {
		t.Errorf("withdrawn: %s, asked: %s", withdrawn.Raw(), question.Raw())
	}
	h.becomes(id, "completed")
}

func TestQuestionIsWithdrawnWithItsTask(t *testing.T) {
	h := newOlderHost(t, Options{})
	id := h.makes("ask")
	h.isAsked(id)
	h.asks("1", "tasks/cancel", taskParams(id))
	h.hears("the withdrawal", calls("notifications/cancelled"))
}

func TestOtherSessionIsAskedOnceItWaitsForTheResult(t *testing.T) {
	first := newOlderHost(t, Options{})
	second := newOlderHost(t, Options{Proxy: first.core})
	id := first.makes("ask")
	question := first.isAsked(id)
	second.hasNot("a question before it asked for the result", calls("elicitation/create"))
	second.begins("1", "tasks/result", taskParams(id))
	same := second.isAsked(id)
	second.begins("2", "tasks/result", taskParams(id)) // is not asked a second time
	second.answersQuestion(same, `"result":{"action":"accept"}`)
	for _, m := range []wire.Message{second.hears("the result", answers("1")), second.hears("the result", answers("2"))} {
		if !strings.Contains(string(m.Result()), "accepted") {
			t.Errorf("tasks/result: %s", m.Raw())
		}
	}
	withdrawn := first.hears("the withdrawal", calls("notifications/cancelled"))
	if string(wire.Get(withdrawn.Params(), "requestId")) != string(question.ID()) {
		t.Errorf("withdrawn: %s, asked: %s", withdrawn.Raw(), question.Raw())
	}
	second.hasNot("a second question", calls("elicitation/create"))
	second.hasNot("a status of a task that another session made", calls("notifications/tasks/status"))
}

func TestQuestionThatNeverReachedTheHostIsStillOpen(t *testing.T) {
	asked := &talk{session: unconnected(Options{}), asked: map[string]func(){"k": func() {}}}
	asked.pass("k", unasked().With(wire.Changes{ID: []byte("7")})) // without a core, which would have to refuse it
	if len(asked.asked) > 0 {
		t.Error("the host is not asked once more")
	}
}
