package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// remoteServers keep tasks of their own over a restart of the proxy: they are
// processes apart, over HTTP.
var remoteServers = []struct {
	name, fixture string
	start         func(testing.TB, []string) string
}{
	{"older", "legacy -version 2025-11-25 -tasks required -queue", startSharedFront},
	{"extension", "modern -tasks optional", startAloneFront},
	{"extension that tells", "modern -tasks optional -listen", startAloneFront},
}

// remote is a proxy before such a server.
func remote(t *testing.T, fixture string, start func(testing.TB, []string) string) (*proxied, *records) {
	t.Helper()
	p, seen := fixtureOver(t, transport{server: start}, fixture)
	p.Config = alwaysTasks
	return p, seen
}

// awaitFollowed waits until the server was asked for so many of its tasks: they are
// on the proxy's disk then, and found again after a kill.
func (r *records) awaitFollowed(h *host, tasks int) {
	h.t.Helper()
	h.await(fmt.Sprintf("%d tasks of the server to be followed", tasks), func() bool {
		ids := map[string]bool{}
		for _, line := range r.received() {
			if m, err := parseMessage(line); err == nil && strings.HasPrefix(m.Method, "tasks/") {
				ids[string(at(m.Params, "taskId"))] = true
			}
		}
		return len(ids) == tasks
	})
}

// The proxy is killed while the server works on its task, and the next one
// follows that on: nothing is done twice.
func TestServersTaskIsResumedAfterAKill(t *testing.T) {
	for _, server := range remoteServers {
		t.Run(server.name+" server", func(t *testing.T) {
			t.Parallel()
			p, seen := remote(t, server.fixture, server.start)
			h := p.start(t)
			h.initialize("2025-11-25")
			held, open := door(t)
			running, asking := h.olderTask("echo", held), h.extensionTask("quiz", held)
			stopped, missed := h.extensionTask("gate", held), h.olderTask("fail", `{"hold":"never"}`)
			seen.awaitFollowed(h, 4)
			h.kill()
			h = p.start(t)
			h.initialize("2025-11-25")
			h.resumed(running, asking, stopped, missed)
			h.ask(taskRequests(stopped)["tasks/cancel"])
			h.await("the server to be told of the cancel", func() bool { return seen.count("cancelled gate") == 1 })
			open()
			if m := h.older("tasks/result", running); firstText(m.Result) != "echo" {
				t.Errorf("tasks/result: %s", cut(m.Raw))
			}
			m := pollTask(h, asking, func(m message) bool { return len(m.asked()) == 1 })
			h.update(asking, fmt.Sprintf(`{%q:%s}`, m.asked()[0], yes))
			wantQuizzed(t, at(finishTask(h, asking, "completed").Result, "result"))
			for _, tool := range []string{"echo", "quiz", "gate", "fail"} {
				if n := seen.count("call " + tool); n != 1 {
					t.Errorf("%s was called %d times", tool, n)
				}
			}
		})
	}
}

// resumed insists that tasks are still at work, in either shape.
func (h *host) resumed(ids ...string) {
	h.t.Helper()
	for _, id := range ids {
		if m := h.look(id); m.text("status") != "working" {
			h.t.Errorf("after the kill: %s", cut(m.Raw))
		}
		if m := h.older("tasks/get", id); m.text("status") != "working" {
			h.t.Errorf("after the kill: %s", cut(m.Raw))
		}
	}
}

// What ended while no proxy was there is found by the next one.
func TestServersTaskThatEndedInBetween(t *testing.T) {
	for _, server := range remoteServers[:2] {
		t.Run(server.name+" server", func(t *testing.T) {
			t.Parallel()
			p, seen := remote(t, server.fixture, server.start)
			h := p.start(t)
			held, open := door(t)
			done, failed, broken := h.extensionTask("echo", held), h.extensionTask("fail", held), h.extensionTask("rpcerror", held)
			seen.awaitFollowed(h, 3)
			h.kill()
			open()
			h = p.start(t)
			if said := firstText(at(finishTask(h, done, "completed").Result, "result")); said != "echo" {
				t.Errorf("the result is %q", said)
			}
			if m := finishTask(h, failed, "completed"); string(at(m.Result, "result", "isError")) != "true" {
				t.Errorf("the result is %s", cut(m.Raw))
			}
			if m := finishTask(h, broken, "failed"); string(at(m.Result, "error", "code")) != "-32050" {
				t.Errorf("the error is %s", cut(m.Raw))
			}
			for _, tool := range []string{"echo", "fail", "rpcerror"} {
				if n := seen.count("call " + tool); n != 1 {
					t.Errorf("%s was called %d times", tool, n)
				}
			}
		})
	}
}

// A server that was restarted does not know the task any more: nobody does, and the
// proxy says so.
func TestServersTaskThatTheServerForgot(t *testing.T) {
	for _, server := range remoteServers[:2] {
		t.Run(server.name+" server", func(t *testing.T) {
			t.Parallel()
			p, seen := remote(t, server.fixture, server.start)
			h := p.start(t)
			id := h.extensionTask("gate", `{"gate":"shut"}`)
			seen.awaitFollowed(h, 1)
			crash := h.extensionTask("crash", `{}`)
			wantUnknown(t, finishTask(h, id, "failed"), "upstream_task_lost")
			finishTask(h, crash, "failed")
			for _, tool := range []string{"gate", "crash"} {
				if n := seen.count("call " + tool); n != 1 {
					t.Errorf("%s was called %d times", tool, n)
				}
			}
		})
	}
}

// A server that is a process of the proxy takes its tasks with it.
func TestProcesssTaskIsLostWithIt(t *testing.T) {
	for _, server := range migrationServers {
		t.Run(server.tasks+" server", func(t *testing.T) {
			t.Parallel()
			p, seen := fixtureOver(t, transport{}, server.fixture)
			p.Config = alwaysTasks
			h := p.start(t)
			h.initialize("2025-11-25")
			id := h.olderTask("gate", `{"gate":"shut"}`)
			h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
			h.kill()
			h = p.start(t)
			h.initialize("2025-11-25")
			wantUnknown(t, finishTask(h, id, "failed"), "proxy_restarted")
			if m := h.older("tasks/get", id); m.text("status") != "failed" || m.text("statusMessage") == "" {
				t.Errorf("tasks/get: %s", cut(m.Raw))
			}
			if why, outcome := reason(h.older("tasks/result", id).Error); why != "proxy_restarted" || outcome != "unknown" {
				t.Errorf("tasks/result: reason %q, outcome %q", why, outcome)
			}
			if n := seen.count("call gate"); n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

func wantUnknown(t *testing.T, failed message, want string) {
	t.Helper()
	if why, outcome := reason(at(failed.Result, "error")); why != want || outcome != "unknown" {
		t.Errorf("reason %q, outcome %q, want %q and unknown: %s", why, outcome, want, cut(failed.Raw))
	}
}

// The process of the server dies with a task, and the proxy lives.
func TestServersTaskIsLostWithTheServer(t *testing.T) {
	for _, server := range migrationServers[1:] {
		t.Run(server.tasks+" server", func(t *testing.T) {
			t.Parallel()
			p, seen := fixtureOver(t, transport{}, server.fixture)
			p.Config = alwaysTasks
			h := p.start(t)
			id := h.extensionTask("gate", `{"gate":"shut"}`)
			h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
			h.extensionTask("crash", `{}`)
			wantUnknown(t, finishTask(h, id, "failed"), "upstream_exited")
		})
	}
}
