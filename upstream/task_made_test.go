package upstream

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

var cancelNotice = wire.Notification("notifications/cancelled", nil)

func TestATaskWithoutAUsableIDIsNoAnswer(t *testing.T) {
	for name, id := range map[string]string{"none": `"x":1`, "a number": `"taskId":7`, "empty": `"taskId":""`, "too long": `"taskId":"` + strings.Repeat("x", maxTaskID+1) + `"`} {
		for _, extension := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", extension ", extension), func(t *testing.T) {
				s := newTaskServer(t, extension)
				made := `{"task":{` + id + `,"status":"working"}}`
				if extension {
					made = `{"resultType":"task",` + id + `,"status":"working"}`
				}
				s.on("tools/call", result(made))
				c := dial(t, s.URL, nil)
				begin(t, c, "may", nil).wantError("upstream_invalid", Unknown)
				ask(t, c, "tools/list", "{}")
				s.expect("tasks/get", 0)
			})
		}
	}
}

func TestATaskThatHasNothingButAnIDIsFollowed(t *testing.T) {
	id := strings.Repeat("ü", maxTaskID/2)
	for _, extension := range []bool{false, true} {
		s := newTaskServer(t, extension)
		made := `{"task":{"taskId":"` + id + `"}}`
		if extension {
			made = `{"resultType":"task","taskId":"` + id + `"}`
		}
		s.on("tools/call", result(made))
		f := begin(t, dial(t, s.URL, nil), "may", nil)
		if ref := f.ref(); len(ref) > 4<<10 {
			t.Errorf("the reference has %d bytes", len(ref))
		}
		f.wantError("upstream_task_lost", Unknown) // of which our server knows nothing
		v := s.await("tasks/get", 1)
		if got, _ := wire.String(wire.Get(v.message.Params(), "taskId")); got != id {
			t.Errorf("the server was asked for %q", got)
		}
	}
}

func TestATaskThatNobodyAskedForPassesAsItIs(t *testing.T) {
	for _, extension := range []bool{false, true} {
		s := newTaskServer(t, extension)
		s.on("tools/call", func(w http.ResponseWriter, v visit) { result(s.made(s.create("working")))(w, v) })
		got := ask(t, dial(t, s.URL, nil), "tools/call", `{"name":"may"}`)
		if got != s.made("t1") {
			t.Errorf("it came as %s", got)
		}
		s.expect("tasks/get", 0)
		s.expect("tasks/result", 0)
	}
}

func TestATaskIsFollowedWhenItsReferenceHasBeenKept(t *testing.T) {
	for _, extension := range []bool{false, true} {
		s := newTaskServer(t, extension)
		inTime(t, s, func(t *testing.T, c *Client) {
			kept := make(chan struct{})
			f := begin(t, c, "may", func(r *Request) { r.Task.Made = func([]byte) { <-kept } })
			time.Sleep(time.Minute)
			s.expect("tasks/get", 0)
			s.expect("tasks/result", 0)
			if len(f.answer) > 0 || c.IdleFor() > 0 {
				t.Error("the call is taken for one that is over")
			}
			close(kept)
			s.set("t1", "completed", "", `"result":{"content":[]}`)
			f.asking.result()
		})
	}
}

func TestACancelledTaskIsCancelledAtTheServer(t *testing.T) {
	for _, extension := range []bool{false, true} {
		s := newTaskServer(t, extension)
		c := dial(t, s.URL, nil)
		f := begin(t, c, "may", func(r *Request) { r.Caller.Capabilities = []byte(`{"elicitation":{}}`) })
		f.ref()
		s.await("tasks/get", 1)
		if !c.Cancel(f.request, cancelNotice) {
			t.Error("it could not be cancelled")
		}
		v := s.await("tasks/cancel", 1)
		if id, _ := s.of(v); id != "t1" {
			t.Errorf("%s was cancelled", v.message.Raw())
		}
		declared := wire.Lookup(v.message.Params(), "_meta", metaCapabilities)
		if want := `{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{}}`; extension && (string(declared) != want || v.header("Mcp-Name") != "t1") {
			t.Errorf("it was cancelled with %s, Mcp-Name %q", declared, v.header("Mcp-Name"))
		}
		if c.Cancel(f.request, cancelNotice) {
			t.Error("it was cancelled twice")
		}
		doing(t, "the end of all that is asked", func() {
			for c.IdleFor() == 0 {
				yieldABit()
			}
		})
		s.expect("tasks/cancel", 1)
		s.expect("notifications/cancelled", 0)
		if len(f.answer) > 0 {
			t.Error("a call that was cancelled got an answer")
		}
	}
}

func TestATaskOfACallThatWasCancelledBeforeDoesNotRunUnseen(t *testing.T) {
	for _, extension := range []bool{false, true} {
		s, release := newTaskServer(t, extension), make(chan struct{})
		s.on("tools/call", func(w http.ResponseWriter, v visit) {
			out := openStream(w)
			<-release
			out.message(wire.Result(v.message.ID(), []byte(s.made(s.create("working")))))
		})
		c := dial(t, s.URL, nil)
		f := begin(t, c, "may", nil)
		s.await("tools/call", 1)
		yieldABit() // for the beginning of the stream to arrive
		if !c.Cancel(f.request, cancelNotice) {
			t.Error("it could not be cancelled")
		}
		if !extension {
			s.await("notifications/cancelled", 1) // before the call has been answered
		}
		close(release)
		s.await("tasks/cancel", 1)
		if len(f.answer) > 0 || len(f.made) > 0 {
			t.Error("a call that was cancelled got an answer")
		}
	}
}

// A stream that can be taken up again is not, for the answer has come.
func TestTheStreamThatSaidThatATaskWasMadeIsLetGo(t *testing.T) {
	s := newTaskServer(t, false)
	s.on("tools/call", func(w http.ResponseWriter, v visit) {
		openStream(w).send("id: e1\nretry: 10\ndata: " + string(wire.Result(v.message.ID(), []byte(s.made(s.create("working")))).Raw()) + "\n\n")
	})
	f := begin(t, dial(t, s.URL, nil), "may", nil)
	f.ref()
	s.await("tasks/get", 3)
	for _, v := range s.visits("GET") {
		if v.header("Last-Event-Id") != "" {
			t.Errorf("it was asked for the rest of %s", v.header("Last-Event-Id"))
		}
	}
}

func TestACallThatMayBeATaskIsCancelledByTheEndOfItsStreamSoon(t *testing.T) {
	s, gone := newTaskServer(t, true), make(chan struct{})
	s.on("tools/call", func(w http.ResponseWriter, v visit) {
		openStream(w)
		<-v.request.Context().Done()
		close(gone)
	})
	c := dial(t, s.URL, nil)
	f := begin(t, c, "may", nil)
	s.await("tools/call", 1)
	c.Cancel(f.request, cancelNotice)
	within(t, "the end of the stream", gone)
}

func TestWhatIsRememberedOfCancelledCallsIsBounded(t *testing.T) {
	c := New(Options{})
	defer c.Close(t.Context())
	k := c.newConn()
	c.mu.Lock()
	defer c.mu.Unlock()
	for range 2 * maxUnclaimed {
		r := &Request{wished: true}
		k.enlistLocked(r)
		k.takeBackLocked(r)
	}
	if len(k.unclaimed) != maxUnclaimed || k.unclaimed[2*maxUnclaimed] == nil || len(k.open) > 0 {
		t.Errorf("%d are remembered", len(k.unclaimed))
	}
}

func TestAClientThatIsClosedLeavesItsTasksToTheServer(t *testing.T) {
	for _, extension := range []bool{false, true} {
		s := newTaskServer(t, extension)
		c := dial(t, s.URL, nil)
		f := begin(t, c, "may", nil)
		f.ref()
		s.await("tasks/get", 1)
		doing(t, "Close", func() { c.Close(t.Context()) })
		f.wantError("shutdown", Unknown)
		s.expect("tasks/cancel", 0)
	}
}

func TestASessionThatHasATaskDoesNotRest(t *testing.T) {
	s := newTaskServer(t, false)
	c := dial(t, s.URL, nil)
	f := begin(t, c, "may", nil)
	f.ref()
	s.await("tasks/result", 1)
	c.Rest()
	c.Declare([]byte(`{"roots":{}}`))
	ask(t, c, "tools/list", "{}")
	s.expect("initialize", 1)
	s.set("t1", "completed", "", `"result":{"content":[]}`)
	f.asking.result()
	doing(t, "the end of all that is asked", func() {
		for c.IdleFor() == 0 {
			yieldABit()
		}
	})
	c.Declare([]byte(`{"roots":{}}`))
	ask(t, c, "tools/list", "{}")
	s.expect("initialize", 2)
}

// An answer that cannot be delivered ends the call: the server would wait for it.
func TestATaskWhoseQuestionCannotBeAnsweredIsCancelled(t *testing.T) {
	s := newTaskServer(t, false)
	say := make(chan string)
	s.on("GET", speaking(say))
	s.on("answer", plain(http.StatusBadRequest, "text/plain", "no"))
	f := begin(t, dial(t, s.URL, nil), "may", nil)
	f.ref()
	s.await("tasks/result", 1)
	say <- elicitation(`"q1"`, `"io.modelcontextprotocol/related-task":{"taskId":"t1"}`)
	f.next().accept()
	f.wantError("answer_undelivered", Unknown)
	s.await("tasks/cancel", 1)
	s.expect("notifications/cancelled", 0)
}
