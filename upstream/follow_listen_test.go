package upstream

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// crier is a task server that says what is new to whoever has asked.
type crier struct {
	*taskServer
	*Client
	accepts string
	say     chan string // task objects
	cut     chan bool   // the end of a stream; true for one in good order
}

// inCrier gives a test one in a bubble.
func inCrier(t *testing.T, accepts string, test func(t *testing.T, s *crier)) {
	s := &crier{taskServer: newTaskServer(t, true), accepts: accepts}
	s.pace = `,"pollIntervalMs":1000`
	s.on("subscriptions/listen", s.listen)
	inTime(t, s.taskServer, func(t *testing.T, c *Client) {
		s.Client, s.say, s.cut = c, make(chan string, 10), make(chan bool, 1)
		test(t, s)
	})
}

func (s *crier) listen(w http.ResponseWriter, v visit) {
	out := openStream(w)
	meta := `"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(v.message.ID()) + `}`
	if s.accepts != "" {
		out.send(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + meta + `,"notifications":` + s.accepts + "}}\n\n")
	}
	for {
		select {
		case task := <-s.say:
			out.send(`data: {"jsonrpc":"2.0","method":"notifications/tasks","params":{` + meta + `,` + task[1:] + "}\n\n")
		case orderly := <-s.cut:
			if orderly {
				out.message(wire.Result(v.message.ID(), []byte(`{"resultType":"complete"}`)))
			}
			return
		case <-v.request.Context().Done():
			return
		}
	}
}

func (s *crier) expectPolls(what string, seconds ...int) {
	s.t.Helper()
	var got []int
	for _, at := range s.times("tasks/get") {
		got = append(got, int(at.Round(time.Second)/time.Second))
	}
	if diff := cmp.Diff(seconds, got); diff != "" {
		s.t.Errorf("polls %s, by the second (-want +got):\n%s", what, diff)
	}
}

func TestAServerThatSaysWhatIsNewIsSparedPolls(t *testing.T) {
	inCrier(t, `{"taskIds":["t1"]}`, func(t *testing.T, s *crier) {
		f := begin(t, s.Client, "may", nil)
		time.Sleep(100 * time.Second)
		s.expectPolls("while it says what is new", 1, 1, 31, 61, 91) // the second one for what came before
		listen := s.visits("subscriptions/listen")[0].message.Params()
		if got := string(wire.Get(listen, "notifications")); got != `{"taskIds":["t1"]}` {
			t.Errorf("it was asked for %s", got)
		}
		s.say <- `{"taskId":"t1","status":"working","statusMessage":"half done"}`
		f.status("half done")
		s.say <- `{"taskId":"t2","status":"completed"}` // which is another's
		time.Sleep(time.Second)
		s.expect("tasks/get", 5)
		s.set("t1", "input_required", asks(asksName), "")
		s.say <- `{"taskId":"t1","status":"input_required"}`
		time.Sleep(time.Second)
		f.next()
		s.set("t1", "working", "", "")
		s.say <- `{"taskId":"t1","status":"working"}`
		time.Sleep(time.Second)
		if len(f.withdrawn) != 1 {
			t.Error("the question was not withdrawn at once")
		}
		s.set("t1", "completed", "", `"result":{"content":[]}`)
		s.say <- `{"taskId":"t1","status":"completed"}`
		wait(t, answerOf(f, time.Second), `{"content":[]}`)
		s.expect("tasks/get", 8)
		s.expect("subscriptions/listen", 1)
	})
}

func TestAServerThatDoesNotSayWhatIsNewIsPolledAsBefore(t *testing.T) {
	for name, accepts := range map[string]string{"accepts nothing": `{}`, "accepts another": `{"taskIds":["t2"]}`, "does not answer": ""} {
		t.Run(name, func(t *testing.T) {
			inCrier(t, accepts, func(t *testing.T, s *crier) {
				begin(t, s.Client, "may", nil)
				time.Sleep(5*time.Second + time.Millisecond)
				s.expectPolls("all the while", 1, 2, 3, 4, 5)
				time.Sleep(5 * time.Minute)
				s.expect("subscriptions/listen", 1)
			})
		})
	}
}

func TestASubscriptionToATaskThatEndsIsMadeUpForByPolls(t *testing.T) {
	for name, c := range map[string]struct {
		orderly bool
		polls   []int
		listens int
	}{
		"in good order":    {true, []int{1, 1, 11, 12, 13, 14, 15}, 1},
		"because it broke": {false, []int{1, 1, 11, 12, 12, 42}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inCrier(t, `{"taskIds":["t1"]}`, func(t *testing.T, s *crier) {
				f := begin(t, s.Client, "may", nil)
				time.Sleep(11 * time.Second)
				s.cut <- c.orderly
				time.Sleep(4*time.Second + time.Millisecond)
				if !c.orderly {
					time.Sleep(30 * time.Second)
				}
				s.expectPolls("behind the end", c.polls...)
				s.expect("subscriptions/listen", c.listens)
				s.Cancel(f.request, cancelNotice)
			})
		})
	}
}
