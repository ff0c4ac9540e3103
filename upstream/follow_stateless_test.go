package upstream

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func TestATaskOfTheExtensionComesToWhatTheCallItselfWouldHave(t *testing.T) {
	for name, c := range map[string]struct{ status, outcome, want string }{
		"a result":                 {"completed", `"result":{"content":[],"n":1.0, "u":"\u2028","resultType":"complete"}`, `"result":{"content":[],"n":1.0, "u":"\u2028","resultType":"complete"}`},
		"isError":                  {"completed", `"result":{"content":[],"isError":true}`, `"result":{"content":[],"isError":true}`},
		"an error":                 {"failed", `"error":{"code":-32099,"message":"boom","data":{"n":1.0}}`, `"error":{"code":-32099,"message":"boom","data":{"n":1.0}}`},
		"the error of another map": {"failed", `"error":{"code":-32602,"message":"no such city"}`, `"error":{"code":-32602,"message":"no such city"}`},
	} {
		for _, born := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", done at once ", born), func(t *testing.T) {
				s := newTaskServer(t, true)
				if born {
					s.on("tools/call", func(w http.ResponseWriter, v visit) {
						id := s.create("working")
						s.set(id, c.status, "", c.outcome)
						result(s.made(id))(w, v)
					})
				}
				f := begin(t, dial(t, s.URL, nil), "may", nil)
				f.ref()
				s.set("t1", c.status, "", c.outcome)
				m, err := f.wait()
				if err != nil || !strings.Contains(string(m.Raw()), c.want) {
					t.Errorf("got %s, %v; want %s", m.Raw(), err, c.want)
				}
				s.expect("tools/call", 1)
				s.expect("tasks/result", 0)
			})
		}
	}
}

func TestATaskOfTheExtensionThatIsDoneAtOnceIsAskedForAtOnce(t *testing.T) {
	s := newTaskServer(t, true)
	s.pace = `,"pollIntervalMs":60000`
	s.on("tools/call", func(w http.ResponseWriter, v visit) {
		s.set(s.create("working"), "completed", "", `"result":{"content":[]}`)
		result(s.made("t1"))(w, v)
	})
	inTime(t, s, func(t *testing.T, c *Client) {
		began := time.Now()
		begin(t, c, "may", nil).asking.result()
		if took := time.Since(began); took > leastPoll {
			t.Errorf("it took %v", took)
		}
	})
}

func TestATaskOfTheExtensionThatCannotBeHadIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		break_ func(s *taskServer)
		reason string
		text   string
	}{
		"cancelled":                {func(s *taskServer) { s.set("t1", "cancelled", `,"statusMessage":"maintenance"`, "") }, "upstream_cancelled", `"maintenance"`},
		"unknown":                  {func(s *taskServer) { s.forget("t1") }, "upstream_task_lost", "-32602"},
		"unknown in words":         {func(s *taskServer) { s.on("tasks/get", failure(200, -32603, "no such task")) }, "upstream_task_lost", "no such task"},
		"no tasks":                 {func(s *taskServer) { s.on("tasks/get", refuse404) }, "upstream_task_lost", "-32601"},
		"completed with nothing":   {func(s *taskServer) { s.set("t1", "completed", "", "") }, "upstream_invalid", "completed"},
		"failed with nothing":      {func(s *taskServer) { s.set("t1", "failed", `,"statusMessage":"why"`, "") }, "upstream_invalid", `"why"`},
		"failed with a result":     {func(s *taskServer) { s.set("t1", "failed", "", `"result":{}`) }, "upstream_invalid", "failed"},
		"credentials that ran out": {func(s *taskServer) { s.on("tasks/get", plain(401, "text/plain", "expired")) }, "upstream_unauthorized", "401"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTaskServer(t, true)
			f := begin(t, dial(t, s.URL, nil), "may", nil)
			f.ref()
			c.break_(s)
			if err := f.wantError(c.reason, Unknown); !strings.Contains(err.Text, c.text) {
				t.Errorf("the error says %s, nothing of %s", err.Text, c.text)
			}
		})
	}
}

func TestTheExtensionIsDeclaredWhereATaskMayBeMadeAndOnWhatConcernsIt(t *testing.T) {
	const has, with = `{"extensions":{"x":{}},"elicitation":{}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}},"elicitation":{}}`
	said := []byte(`{"extensions":{"io.modelcontextprotocol/tasks":{"own":1},"x":{}},"elicitation":{},"tasks":{}}`)
	s := newTaskServer(t, true)
	c := dial(t, s.URL, nil)
	dressed := func(change func(*Request)) func(*Request) {
		return func(r *Request) {
			r.Caller = Caller{Stateless: true, Capabilities: said}
			if change != nil {
				change(r)
			}
		}
	}
	expect := func(what string, v visit, want string) {
		t.Helper()
		if got := string(wire.Lookup(v.message.Params(), "_meta", metaCapabilities)); got != want {
			t.Errorf("%s: declared %s, want %s", what, got, want)
		}
	}
	send(t, c, "tools/list", "{}", dressed(wishes)).result()
	expect("tools/list", s.await("tools/list", 1), has)
	send(t, c, "tools/call", `{"name":"may"}`, dressed(nil)).result()
	expect("a call without a wish", s.await("tools/call", 1), has)
	send(t, c, "tools/call", `{"name":"may"}`, dressed(func(r *Request) { wishes(r); r.NoTask = true })).result()
	expect("a call that is not to be a task", s.await("tools/call", 2), has)
	f := begin(t, c, "may", dressed(nil))
	f.ref()
	expect("a call with a wish", s.await("tools/call", 3), with)
	v := s.await("tasks/get", 1)
	expect("tasks/get", v, with)
	expect("subscriptions/listen", s.await("subscriptions/listen", 1), with)
	if v.header("Mcp-Name") != "t1" || v.header("Mcp-Method") != "tasks/get" {
		t.Errorf("tasks/get has the headers %v", v.request.Header)
	}
	without := modern(t, map[string]handler{"tools/call": result("{}")})
	send(t, dial(t, without.URL, nil), "tools/call", `{"name":"may"}`, dressed(wishes)).result()
	expect("a server without the extension", without.await("tools/call", 1), has)
}

func TestAServerOfTheExtensionIsPolledAtItsOwnPace(t *testing.T) {
	s := newTaskServer(t, true)
	s.pace = `,"pollIntervalMs":2000`
	inTime(t, s, func(t *testing.T, c *Client) {
		f := begin(t, c, "may", nil)
		time.Sleep(5 * time.Second)
		s.mu.Lock()
		s.pace = `,"pollIntervalMs":7000` // it may change
		s.mu.Unlock()
		time.Sleep(20 * time.Second)
		s.set("t1", "completed", "", `"result":{"content":[]}`)
		f.asking.result()
		want := []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second, 13 * time.Second, 20 * time.Second, 27 * time.Second}
		if diff := cmp.Diff(want, s.times("tasks/get")); diff != "" {
			t.Errorf("polls (-want +got):\n%s", diff)
		}
	})
	often := newTaskServer(t, true) // every 50 ms
	inTime(t, often, func(t *testing.T, c *Client) {
		begin(t, c, "may", wishes)
		time.Sleep(time.Second + time.Millisecond)
		if n := len(often.visits("tasks/get")); n != 20 {
			t.Errorf("in a second there were %d polls", n)
		}
	})
}

func TestAPollThatIsNotAnsweredIsGivenUp(t *testing.T) {
	for _, extension := range []bool{false, true} {
		s := newTaskServer(t, extension)
		s.on("tasks/get", hang)
		inTime(t, s, func(t *testing.T, c *Client) {
			f := begin(t, c, "may", wishes)
			time.Sleep(10 * time.Minute)
			if n := len(s.visits("tasks/get")); n < 4 || n > 6 {
				t.Errorf("in ten minutes there were %d polls", n)
			}
			c.Cancel(f.request, cancelNotice)
		})
	}
}

func TestATaskOfTheExtensionIsFollowedThroughAWhileOfTrouble(t *testing.T) {
	s := newTaskServer(t, true)
	inTime(t, s, func(t *testing.T, c *Client) {
		get := s.handlers["tasks/get"]
		for name, trouble := range map[string]handler{
			"cut": hangUp, "502": plain(502, "text/html", "<h1>Bad gateway</h1>"), "429": failure(429, -32000, "slow down"), "-32603": failure(200, -32603, "database is locked"),
			"another task": result(`{"resultType":"complete","taskId":"t9","status":"completed","result":{}}`), "no task": result(`{"resultType":"complete"}`),
		} {
			s.on("tasks/get", trouble)
			f := begin(t, c, "may", nil)
			ref := f.ref()
			time.Sleep(time.Hour)
			if n := len(f.statuses); n != 1 {
				t.Errorf("%s: there were %d signs of life", name, n)
			}
			s.on("tasks/get", get)
			decoded, _ := decodeRef(ref)
			s.set(decoded.id(), "completed", "", `"result":{"content":[]}`)
			wait(t, answerOf(f, 2*longestBackoff), `{"content":[]}`)
		}
	})
}

// answerOf is for an answer that is due within d.
func answerOf(f following, d time.Duration) asking {
	time.Sleep(d)
	if len(f.answer) == 0 {
		f.asking.t.Fatalf("no answer within %v", d)
	}
	return f.asking
}
