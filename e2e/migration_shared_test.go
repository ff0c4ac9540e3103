package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// Two hosts of one owner, one of each generation of tasks, through one proxy at
// the same time: what one has made the other reads, answers and cancels, each in
// its own way.

// generations are the two hosts, and the door that their tools wait for.
type generations struct {
	t                *testing.T
	seen             *records
	older, extension *host
}

func startGenerations(t *testing.T, fixture string) *generations {
	t.Helper()
	p, seen := fixtureOver(t, transport{}, fixture)
	p.Config = alwaysTasks
	l := p.listen(t)
	g := &generations{t: t, seen: seen, older: l.join(), extension: l.join()}
	g.older.initialize("2025-11-25")
	return g
}

// door is a file that is not there, as the arguments of a tool that waits for it.
func door(t *testing.T) (arguments string, open func()) {
	t.Helper()
	path := t.TempDir() + "/door"
	return fmt.Sprintf(waits, path), func() { t.Helper(); openDoor(t, path) }
}

func openDoor(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// olderTask makes a task as revision 2025-11-25 has them.
func (h *host) olderTask(tool, arguments string) (id string) {
	h.t.Helper()
	m := h.ask(older(h.freshID(), tool, arguments))
	if id = m.text("task", "taskId"); id == "" {
		h.t.Fatalf("no task was created: %s", cut(m.Raw))
	}
	return id
}

func (h *host) extensionTask(tool, arguments string) (id string) {
	h.t.Helper()
	return taskOf(h.t, h.ask(both.toolCall(h.freshID(), tool, arguments)))
}

// look asks for a task as the extension has it.
func (h *host) look(id string) message {
	h.t.Helper()
	return h.ask(both.request(h.freshID(), "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)))
}

func TestGenerationsShareTheirTasks(t *testing.T) {
	for _, server := range migrationServers {
		if testing.Short() && server.tasks != "older" {
			continue
		}
		t.Run(server.tasks+" server", func(t *testing.T) {
			t.Parallel()
			g := startGenerations(t, server.fixture)
			g.read(t)
			g.fail(t)
			g.answerOlder(t)
			g.answerExtension(t)
			g.cancel(t)
		})
	}
}

func (g *generations) read(t *testing.T) {
	arguments, open := door(t)
	a, b := g.older.olderTask("echo", arguments), g.extension.extensionTask("echo", arguments)
	for _, id := range []string{a, b} {
		if one, other := g.older.older("tasks/get", id).text("status"), g.extension.look(id).text("status"); one != "working" || other != "working" {
			t.Errorf("task %s is %q and %q", id, one, other)
		}
	}
	open()
	for _, id := range []string{a, b} {
		m := finishTask(g.extension, id, "completed")
		if said := firstText(at(m.Result, "result")); said != "echo" {
			t.Errorf("by the extension the result is %q", said)
		}
		if m := g.older.older("tasks/result", id); firstText(m.Result) != "echo" {
			t.Errorf("tasks/result: %s", cut(m.Raw))
		}
	}
	if n := g.seen.count("call echo"); n != 2 {
		t.Errorf("the tool was called %d times", n)
	}
}

// A tool that says it failed has failed to one of them, and completed to the
// other; the whole result is there for both.
func (g *generations) fail(t *testing.T) {
	for _, id := range []string{g.older.olderTask("fail", `{}`), g.extension.extensionTask("fail", `{}`)} {
		m := finishTask(g.extension, id, "completed")
		if string(at(m.Result, "result", "isError")) != "true" {
			t.Errorf("by the extension: %s", cut(m.Raw))
		}
		if m := pollOlder(g.older, id, ""); m.text("status") != "failed" || m.text("statusMessage") != "first: disk is full" {
			t.Errorf("tasks/get: %s", cut(m.Raw))
		}
		if m := g.older.older("tasks/result", id); string(at(m.Result, "isError")) != "true" || string(at(m.Result, "structuredContent", "code")) != "28" {
			t.Errorf("tasks/result: %s", cut(m.Raw))
		}
	}
}

const quizzed = `{"rounds":[{"form":{"result":` + yes + `}}]}`

// A question of a task that the older host made is answered by the other one,
// and is then taken back from the host that was asked.
func (g *generations) answerOlder(t *testing.T) {
	id := g.older.olderTask("quiz", `{}`)
	q := g.older.take("the question", isQuestion(id))
	m := pollTask(g.extension, id, func(m message) bool { return len(m.asked()) == 1 })
	g.extension.update(id, fmt.Sprintf(`{%q:%s}`, m.asked()[0], yes))
	g.older.take("the withdrawal of the question", func(m message) bool {
		return m.Method == "notifications/cancelled" && string(at(m.Params, "requestId")) == string(q.ID)
	})
	wantQuizzed(t, at(finishTask(g.extension, id, "completed").Result, "result"))
	wantQuizzed(t, g.older.older("tasks/result", id).Result)
}

// A question of the other host's task comes to the one that waits for the result.
func (g *generations) answerExtension(t *testing.T) {
	id := g.extension.extensionTask("quiz", `{}`)
	if m := pollOlder(g.older, id, "input_required"); m.text("status") != "input_required" {
		t.Errorf("tasks/get: %s", cut(m.Raw))
	}
	result := g.older.freshID()
	g.older.send(request(result, "tasks/result", fmt.Sprintf(`{"taskId":%q}`, id)))
	q := g.older.take("the question", isQuestion(id))
	g.older.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + yes + `}`)
	wantQuizzed(t, g.older.response(result).Result)
	wantQuizzed(t, at(finishTask(g.extension, id, "completed").Result, "result"))
}

func isQuestion(id string) func(message) bool {
	return func(m message) bool {
		return m.Method == "elicitation/create" && text(at(m.Params, "_meta", relatedTask, "taskId")) == id
	}
}

func wantQuizzed(t *testing.T, result json.RawMessage) {
	t.Helper()
	if got := string(at(result, "structuredContent")); got != quizzed {
		t.Errorf("the server heard %s, want %s", cut(string(result)), quizzed)
	}
}

func (g *generations) cancel(t *testing.T) {
	a, b := g.older.olderTask("gate", `{"gate":"shut"}`), g.extension.extensionTask("gate", `{"gate":"shut"}`)
	g.older.await("the calls to reach the server", func() bool { return g.seen.count("call gate") == 2 })
	g.extension.ask(taskRequests(a)["tasks/cancel"])
	if m := g.older.older("tasks/get", a); m.text("status") != "cancelled" {
		t.Errorf("tasks/get: %s", cut(m.Raw))
	}
	if m := g.older.older("tasks/cancel", b); m.text("status") != "cancelled" {
		t.Errorf("tasks/cancel: %s", cut(m.Raw))
	}
	if m := g.extension.look(b); m.text("status") != "cancelled" {
		t.Errorf("by the extension: %s", cut(m.Raw))
	}
	g.older.await("the server to be told of the cancels", func() bool { return g.seen.count("cancelled gate") == 2 })
}
