package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// lostSession is how a server says that it does not know the session any more.
// The specification has the first of these, servers in the field have others.
var lostSession = map[string]act{
	"404":         refusing(http.StatusNotFound, -32001, "Session not found"),
	"400":         refusing(http.StatusBadRequest, -32000, "Bad Request: Server not initialized"),
	"503":         refusing(http.StatusServiceUnavailable, -32000, "No valid session: server not initialized"),
	"404, a page": saying(http.StatusNotFound, "text/html", "<h1>Not Found</h1>"),
}

const manyCalls = 10

// A session is lost with ten calls and five reads on it: it is opened again
// once, the reads are repeated there, and no call is sent twice.
func TestSessionLostWithManyCalls(t *testing.T) {
	t.Parallel()
	for name, refuse := range lostSession {
		t.Run(name, func(t *testing.T) { t.Parallel(); loseSession(t, ways[0], refuse) })
	}
	for _, y := range ways[1:] {
		t.Run(y.name, func(t *testing.T) { t.Parallel(); loseSession(t, y, lostSession["404"]) })
	}
}

func loseSession(t *testing.T, y way, refuse act) {
	s := startLegacy(t, nil)
	h := y.start(t, proxyTo(t, s))
	h.ask(y.call(`"before"`, "run", `{}`))
	s.loseAt(manyCalls+5, refuse)
	for i := range manyCalls {
		h.send(y.call(fmt.Sprint(i), "work", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i := range 5 {
		h.send(y.request(fmt.Sprint(100+i), "resources/list"))
	}
	checkLost(t, h, s)
}

func (y way) request(id, method string) string {
	if y.initialize {
		return request(id, method, `{}`)
	}
	return plain.request(id, method, `{}`)
}

// loseAt has the session that is open refuse everything once n requests are
// waiting on it.
func (s *scripted) loseAt(n int, refuse act) {
	var all sync.WaitGroup
	all.Add(n)
	onLost := func(then act) act {
		return func(w http.ResponseWriter, v visit) {
			if v.header("Mcp-Session-Id") != "s1" {
				then(w, v)
				return
			}
			all.Done()
			all.Wait()
			refuse(w, v)
		}
	}
	s.on("tools/call work", onLost(answering(doneResult)))
	s.on("resources/list", onLost(answering(`{"resources":[]}`)))
}

func checkLost(t *testing.T, h *host, s *scripted) {
	t.Helper()
	for i := range 5 {
		if m := h.response(fmt.Sprint(100 + i)); m.Error != nil {
			t.Errorf("a read was not repeated: %s", m.Raw)
		}
	}
	f := fault{"work", nil, "upstream_session_lost", "not_dispatched", nil}
	for i := range manyCalls {
		if m := h.response(fmt.Sprint(i)); m.Error != nil {
			f.check(t, m.Error)
		}
	}
	sent := map[string]bool{}
	for _, v := range s.visits("tools/call work") {
		n := string(at(v.Params, "arguments", "n"))
		if sent[n] {
			t.Errorf("call %s was sent twice", n)
		}
		sent[n] = true
	}
	s.want(t, "initialize", 2)
	s.want(t, "resources/list", 10)
}

// A task whose call meets a lost session fails, was not begun, and says so; the
// next call opens a session.
func TestSessionLostUnderATask(t *testing.T) {
	t.Parallel()
	for _, y := range statelessWays {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := startLegacy(t, nil)
			h := y.start(t, proxyTo(t, s))
			h.ask(y.call("1", "run", `{}`))
			h.await("the proxy's own look at the tools", func() bool { return !y.http || len(s.visits("tools/list")) > 0 })
			s.forget()
			id := taskOf(t, h.ask(declared.toolCall("2", taskPrefix+"work", `{}`)))
			f := fault{"work", nil, "upstream_session_lost", "not_dispatched", nil}
			f.check(t, at(finishTask(h, id, "failed").Result, "error"))
			if m := h.ask(y.call("3", "run", `{}`)); m.Error != nil {
				t.Errorf("the next call was not served: %s", m.Raw)
			}
			s.want(t, "tools/call work", 1)
			s.want(t, "initialize", 2)
		})
	}
}
