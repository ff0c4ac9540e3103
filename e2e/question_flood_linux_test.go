package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Every way in which a call's questions reach a host, and how the host takes them.
var floodWays = []struct {
	name string
	ask  func(h *host, arguments string) (open int, answer func(open int) json.RawMessage)
}{
	{"task", func(h *host, arguments string) (int, func(int) json.RawMessage) {
		id := taskOf(h.t, h.ask(both.quiz("1", arguments, "")))
		m := pollTask(h, id, func(m message) bool { return len(m.asked()) >= 100 })
		return len(m.asked()), func(int) json.RawMessage {
			for !terminal(m) { // more come when there is room for them
				h.update(id, acceptsAll(m.asked()))
				m = pollTask(h, id, func(m message) bool { return len(m.asked()) > 0 })
			}
			return at(m.Result, "result")
		}
	}},
	{"call", func(h *host, arguments string) (int, func(int) json.RawMessage) {
		m := h.ask(answers.quiz("1", arguments, ""))
		first := len(m.asked())
		return first, func(int) json.RawMessage {
			for m.text("resultType") == "input_required" {
				m = h.ask(answers.retry(h.freshID(), arguments, m.state(h.t), acceptsAll(m.asked())))
			}
			return m.Result
		}
	}},
	{"session", func(h *host, arguments string) (int, func(int) json.RawMessage) {
		h.initialize("2025-11-25")
		h.send(request("1", "tools/call", `{"name":"quiz","arguments":`+arguments+`}`))
		var asked []message
		for len(asked) < 1000 {
			asked = append(asked, h.next())
		}
		return len(asked), func(int) json.RawMessage {
			for ; ; asked = append(asked, h.next()) { // more come when there is room for them
				for _, q := range asked {
					if q.Method == "" {
						return q.Result
					}
					h.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + yes + `}`)
				}
				asked = nil
			}
		}
	}},
}

func acceptsAll(keys []string) string {
	var all []string
	for _, key := range keys {
		all = append(all, fmt.Sprintf("%q:%s", key, yes))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// A call that asks thousands of questions at once has so many open as can be shown;
// the server is told of each of the others, other calls go on, and the proxy stays
// small.
func TestFloodOfQuestionsInOneCall(t *testing.T) {
	const all = 5000
	var questions []string
	for i := range all {
		questions = append(questions, fmt.Sprintf(`"%s:%d"`, []string{"form", "sample"}[i%2], i))
	}
	arguments := `{"rounds":[[` + strings.Join(questions, ",") + `]]}`
	for _, way := range floodWays {
		t.Run(way.name, func(t *testing.T) {
			p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
			h := p.start(t)
			open, answer := way.ask(h, arguments)
			other, lines := declared.toolCall(`"other"`, "echo", `{"n":1}`), 1
			if way.name == "session" { // which has questions of its own, and not those of the call
				other, lines = toolCall(`"other"`, "echo", `{"n":1}`), 0
			}
			if m := h.ask(other); string(at(m.Result, "structuredContent", "n")) != "1" {
				t.Errorf("another call was answered %s", cut(m.Raw))
			}
			checkFlood(t, at(answer(open), "structuredContent", "rounds"), all, open)
			checkPeak(t, h.cmd.Process.Pid)
			if n := strings.Count(h.stderr(), "asks more in one call"); n != lines {
				t.Errorf("the log says so %d times, want %d", n, lines)
			}
			h.stop()
		})
	}
}

func checkFlood(t *testing.T, rounds json.RawMessage, all, open int) {
	t.Helper()
	var replies []map[string]struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(rounds, &replies); err != nil || len(replies) != 1 || len(replies[0]) != all {
		t.Fatalf("the server got %s, %v", cut(string(rounds)), err)
	}
	answered := 0
	for key, reply := range replies[0] {
		switch {
		case reply.Result != nil:
			answered++
		case !strings.Contains(text(at(reply.Error, "message")), "too many questions"):
			t.Fatalf("question %s was refused with %s", key, reply.Error)
		}
	}
	if answered < open {
		t.Errorf("%d questions were answered, %d were open at first", answered, open)
	}
}
