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

func TestAnOlderTaskComesToWhatTheCallItselfWouldHave(t *testing.T) {
	for name, c := range map[string]struct{ status, outcome, want string }{
		"a result":             {"completed", `"result":{"content":[],"n":1.0,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}`, `"result":{"content":[],"n":1.0}`},
		"other _meta":          {"completed", `"result":{"_meta":{"x":9007199254740993,"io.modelcontextprotocol/related-task":{"taskId":"t1"}},"content":[]}`, `"result":{"_meta":{"x":9007199254740993},"content":[]}`},
		"without related-task": {"completed", `"result":{"content":[], "u":"\u2028"}`, `"result":{"content":[], "u":"\u2028"}`},
		"isError":              {"failed", `"result":{"content":[],"isError":true}`, `"result":{"content":[],"isError":true}`},
		"an error":             {"failed", `"error":{"code":-32099,"message":"boom","data":{"n":1.0}}`, `"error":{"code":-32099,"message":"boom","data":{"n":1.0}}`},
		"-32602 of its own":    {"failed", `"error":{"code":-32602,"message":"no such city"}`, `"error":{"code":-32602,"message":"no such city"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTaskServer(t, false)
			f := begin(t, dial(t, s.URL, nil), "may", nil)
			f.ref()
			s.await("tasks/result", 1)
			s.set("t1", c.status, "", c.outcome)
			m, err := f.wait()
			if err != nil || !strings.HasSuffix(string(m.Raw()), ","+c.want+"}") {
				t.Errorf("got %s, %v; want %s", m.Raw(), err, c.want)
			}
			s.expect("tools/call", 1)
			s.expect("tasks/result", 1)
			if len(f.answer) > 0 {
				t.Error("it was answered twice")
			}
		})
	}
}

func TestATaskThatCannotBeHadIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		break_          func(s *taskServer)
		reason, outcome string
		text            string
	}{
		"cancelled": {func(s *taskServer) {
			s.set("t1", "cancelled", `,"statusMessage":"maintenance"`, `"error":{"code":-32603,"message":"x"}`)
		},
			"upstream_cancelled", "unknown", `"maintenance"`},
		"unknown": {func(s *taskServer) { s.forget("t1"); s.CloseClientConnections() },
			"upstream_task_lost", "unknown", "-32602"},
		"unknown in words": {func(s *taskServer) {
			s.on("tasks/get", failure(200, 0, "Task t1 not found"))
			s.on("tasks/result", failure(200, 0, "Task t1 not found"))
			s.CloseClientConnections()
		}, "upstream_task_lost", "unknown", "not found"},
		"unknown with a code of the session": {func(s *taskServer) {
			s.on("tasks/get", failure(404, -32001, "Task t1 not found"))
			s.on("tasks/result", failure(404, -32001, "Task t1 not found"))
			s.CloseClientConnections()
		}, "upstream_task_lost", "unknown", "-32001"},
		"unknown to get, and the result waits for ever": {func(s *taskServer) { s.on("tasks/get", failure(400, -32602, "Task has expired")) },
			"upstream_task_lost", "unknown", "Task has expired"},
		"no get, no result": {func(s *taskServer) {
			s.on("tasks/get", refuse404)
			s.on("tasks/result", refuse404)
			s.CloseClientConnections()
		}, "upstream_task_lost", "unknown", "-32601"},
		"a result too long": {func(s *taskServer) {
			s.set("t1", "completed", "", `"result":{"content":["`+strings.Repeat("x", 9000)+`"]}`)
		},
			"too_large", "done", "message_bytes"},
		"credentials that ran out": {func(s *taskServer) { s.on("tasks/get", plain(http.StatusUnauthorized, "text/plain", "expired")) },
			"upstream_unauthorized", "unknown", "401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTaskServer(t, false)
			f := begin(t, dial(t, s.URL, func(o *Options) { o.MessageBytes = 8 << 10 }), "may", nil)
			f.ref()
			s.await("tasks/result", 1)
			c.break_(s)
			if err := f.wantError(c.reason, Outcome(c.outcome)); !strings.Contains(err.Text, c.text) {
				t.Errorf("the error says %s, nothing of %s", err.Text, c.text)
			}
			s.expect("tools/call", 1)
		})
	}
}

// speaking is a stream of the server's own.
func speaking(say <-chan string) handler {
	return func(w http.ResponseWriter, v visit) {
		out := openStream(w)
		for {
			select {
			case text := <-say:
				out.send("data: " + text + "\n\n")
			case <-v.request.Context().Done():
				return
			}
		}
	}
}

func TestAQuestionOfATaskGoesToItsOwnCall(t *testing.T) {
	s := newTaskServer(t, false)
	say := make(chan string)
	s.on("GET", speaking(say))
	blocking := s.handlers["tasks/result"]
	s.on("tasks/result", func(w http.ResponseWriter, v visit) {
		if id, _ := s.of(v); id == "t1" {
			out := openStream(w)
			out.send("data: " + elicitation(`"q1"`, "") + "\n\n") // it came on the stream, and that says it
			out.send(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"aside"}}` + "\n\n")
			<-v.request.Context().Done()
			return
		}
		blocking(w, v)
	})
	c, asides := dial(t, s.URL, nil), make(chan string, 1)
	first := begin(t, c, "may", func(r *Request) { r.Aside = func(m wire.Message) { asides <- m.Method() } })
	first.ref()
	second := begin(t, c, "must", nil)
	second.ref()
	third := begin(t, c, "plain", nil) // the latest one, of which nothing is asked
	s.await("tools/call", 3)
	s.await("tasks/result", 2)
	say <- elicitation(`"q2"`, `"progressToken":1,"x":1,"io.modelcontextprotocol/related-task":{"taskId":"t2"}`)
	if q := first.next(); string(q.message.ID()) != `"q1"` {
		t.Errorf("the first call was asked %s", q.message.Raw())
	}
	q := second.next()
	if string(q.message.ID()) != `"q2"` || string(wire.Get(q.message.Params(), "_meta")) != `{"progressToken":1,"x":1}` {
		t.Errorf("the second call was asked %s", q.message.Raw())
	}
	q.accept()
	s.await("answer", 1)
	doing(t, "the aside", func() { <-asides })
	if len(third.questions) > 0 {
		t.Error("a call of another tool was asked")
	}
}

func TestProgressOfATaskGoesOnBehindTheAnswerToItsCall(t *testing.T) {
	s := newTaskServer(t, false)
	say := make(chan string)
	s.on("GET", speaking(say))
	f := begin(t, dial(t, s.URL, nil), "may", nil)
	f.ref()
	token := wire.Lookup(s.visits("tools/call")[0].message.Params(), "_meta", "progressToken")
	note := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":0.5}}`, token)
	say <- note
	doing(t, "progress", func() { <-f.progress })
	s.await("tasks/result", 1)
	s.set("t1", "completed", "", `"result":{"content":[]}`)
	f.asking.result()
	say <- note
	say <- note // and the one before it has been read
	if len(f.progress) > 0 {
		t.Error("there was progress behind the end")
	}
}

func TestAStatusIsHandedOnOnceAndCut(t *testing.T) {
	s := newTaskServer(t, false)
	say := make(chan string)
	s.on("GET", speaking(say))
	notes := make(chan wire.Message, 10)
	f := begin(t, dial(t, s.URL, func(o *Options) { o.Handler.Notification = func(m wire.Message) { notes <- m } }), "may", nil)
	f.ref()
	f.status("") // of the creation, and then of each poll
	s.set("t1", "working", `,"statusMessage":"half done"`, "")
	f.status("half done")
	s.set("t1", "working", fmt.Sprintf(`,"statusMessage":%q`, strings.Repeat("ü", 600)), "")
	long := strings.Repeat("ü", 498) + "…"
	f.status(long)
	f.status("")
	say <- `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1","status":"working","statusMessage":"at once"}}`
	f.status("at once")
	say <- `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"of nobody","status":"working"}}`
	say <- `{"jsonrpc":"2.0","method":"notifications/x"}`
	doing(t, "the other notification", func() {
		if m := <-notes; m.Method() != "notifications/x" {
			t.Errorf("the host gets %s", m.Raw())
		}
	})
}

func TestAServerIsPolledAtItsOwnPace(t *testing.T) {
	for name, c := range map[string]struct {
		pace string
		want time.Duration
	}{
		"as it says":      {`,"pollInterval":5000`, 5 * time.Second},
		"says nothing":    {"", time.Second},
		"says nonsense":   {`,"pollInterval":"soon"`, time.Second},
		"wants it often":  {`,"pollInterval":1`, 50 * time.Millisecond},
		"almost never":    {`,"pollInterval":1e300`, time.Minute},
		"a negative time": {`,"pollInterval":-5`, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTaskServer(t, false)
			s.pace = c.pace
			inTime(t, s, func(t *testing.T, client *Client) {
				f := begin(t, client, "may", nil)
				time.Sleep(10*c.want + time.Millisecond)
				s.set("t1", "completed", "", `"result":{"content":[]}`)
				f.asking.result()
				var want []time.Duration
				for n := range 10 {
					want = append(want, time.Duration(n+1)*c.want)
				}
				if diff := cmp.Diff(want, s.times("tasks/get")); diff != "" {
					t.Errorf("polls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]time.Duration{0}, s.times("tasks/result")); diff != "" {
					t.Errorf("the result (-want +got):\n%s", diff)
				}
			})
		})
	}
}
