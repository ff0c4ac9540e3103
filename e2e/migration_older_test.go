package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Over HTTP a list is for those whose owners can be told apart, and has their own
// tasks alone, of both generations; another's task does not exist.
func TestOlderTasksBelongToTheirOwner(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = alwaysTasks
	withTokens(t, p)
	l := p.listen(t)
	alice, bob := l.joinAs(bearer(aliceToken)), l.joinAs(bearer(bobToken))
	again := l.joinAs(bearer(aliceSecond))
	alice.initialize("2025-11-25")
	bob.initialize("2025-11-25")
	mine, other := alice.olderTask("release", `{}`), again.extensionTask("release", `{}`)
	foreign := bob.olderTask("release", `{}`)
	for h, want := range map[*host][]string{alice: {mine, other}, bob: {foreign}} {
		if got := h.listed(); len(got) != len(want) || !got[want[0]] || !got[want[len(want)-1]] {
			t.Errorf("the list has %v, want %v", got, want)
		}
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		if m := bob.older(method, mine); m.code() != -32602 {
			t.Errorf("%s of another's task: %s", method, cut(m.Raw))
		}
	}
}

// listed are the ids of one page of tasks/list.
func (h *host) listed() map[string]bool {
	h.t.Helper()
	var list struct{ Tasks []struct{ TaskID string } }
	m := h.ask(request(h.freshID(), "tasks/list", `{}`))
	if err := json.Unmarshal(m.Result, &list); err != nil {
		h.t.Fatalf("tasks/list: %v: %s", err, cut(m.Raw))
	}
	ids := map[string]bool{}
	for _, task := range list.Tasks {
		ids[task.TaskID] = true
	}
	return ids
}

// Where everybody is the same there is no list, and none is offered.
func TestNoListWhereEverybodyIsTheSame(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	a := l.do(t, rawRequest{Body: openRequest})
	if got := string(at(a.Result, "capabilities", "tasks")); got != `{"cancel":{},"requests":{"tools":{"call":{}}}}` {
		t.Errorf("offered is %s", got)
	}
	session := l.openSession(t)
	l.do(t, rawRequest{Body: request("1", "tasks/list", `{}`), Header: inSession(session)}).refusedWith(t, http.StatusOK, -32601)
}

// The call's progress token stays valid for as long as its task lives, whatever the
// server knows of tasks (2025-11-25, Tasks, Task Progress Notifications).
func TestProgressLastsAsLongAsTheTask(t *testing.T) {
	for _, way := range transports {
		for _, server := range migrationServers[:2] { // the extension has no progress
			if way.name != "proxied" && way.name != "both over http" || testing.Short() && way.http {
				continue
			}
			t.Run(way.name+"/"+server.tasks+" server", func(t *testing.T) {
				t.Parallel()
				p, _ := fixtureOver(t, way, server.fixture)
				h := startOver(t, way, p)
				h.initialize("2025-11-25")
				held, open := door(t)
				id := h.freshID()
				held = held[:len(held)-1] + `,"gate":"g","say":[{"progress":1,"total":2,"message":"half"}]}`
				h.send(request(id, "tools/call", `{"name":"gate","arguments":`+held+`,"task":{},"_meta":{"progressToken":"p\u00e9"}}`))
				task := h.response(id).text("task", "taskId")
				open()
				m := h.take("progress", func(m message) bool { return m.Method == "notifications/progress" })
				if text(at(m.Params, "progressToken")) != "p\u00e9" || string(at(m.Params, "progress")) != "1" || text(at(m.Params, "message")) != "half" {
					t.Errorf("the progress is %s", m.Raw)
				}
				pollMessage(h, task, "half")
				h.older("tasks/cancel", task)
			})
		}
	}
}

// pollMessage asks for an older task until its statusMessage has this text.
func pollMessage(h *host, id, want string) {
	h.t.Helper()
	h.await("the task to say "+want, func() bool {
		return strings.Contains(h.older("tasks/get", id).text("statusMessage"), want)
	})
}
