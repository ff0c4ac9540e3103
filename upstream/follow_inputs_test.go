package upstream

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

const (
	asksName = `"name":{"method":"elicitation/create","params":{"message":"name?","n":1.0}}`
	asksAge  = `"age":{"method":"elicitation/create","params":{"message":"age?"}}`
)

func asks(requests ...string) string { return `,"inputRequests":{` + strings.Join(requests, ",") + `}` }

func TestWhatATaskAsksIsHandedOnOnceAndAnswered(t *testing.T) {
	s := newTaskServer(t, true)
	f := begin(t, dial(t, s.URL, nil), "may", nil)
	f.ref()
	s.set("t1", "input_required", asks(asksName), "")
	name := f.next()
	if name.message.Method() != "elicitation/create" || string(name.message.Params()) != `{"message":"name?","n":1.0}` {
		t.Errorf("it was handed on as %s", name.message.Raw())
	}
	s.set("t1", "input_required", asks(asksName, asksAge), "")
	age := f.next()
	s.await("tasks/get", len(s.visits("tasks/get"))+3)
	if len(f.questions) > 0 {
		t.Errorf("%s was handed on again", (<-f.questions).message.Raw())
	}
	age.answer(wire.Result([]byte("7"), []byte(`{"action":"accept","content":{"age":9007199254740993}}`)))
	update := s.await("tasks/update", 1)
	if got, want := string(wire.Get(update.message.Params(), "inputResponses")), `{"age":{"action":"accept","content":{"age":9007199254740993}}}`; got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
	if declared := wire.Lookup(update.message.Params(), "_meta", metaCapabilities, "extensions", tasksExtension); string(declared) != "{}" || update.header("Mcp-Name") != "t1" {
		t.Errorf("it got %s, Mcp-Name %q", update.message.Raw(), update.header("Mcp-Name"))
	}
	s.await("tasks/get", len(s.visits("tasks/get"))+3) // the server is slow to note it
	name.accept()
	if got := string(wire.Get(s.await("tasks/update", 2).message.Params(), "inputResponses")); got != `{"name":{"action":"accept"}}` {
		t.Errorf("the server got %s", got)
	}
	s.set("t1", "completed", "", `"result":{"content":[]}`)
	f.asking.result()
	s.expect("tasks/update", 2)
	if len(f.questions) > 0 || len(f.withdrawn) > 0 {
		t.Errorf("%d questions came again, %d were withdrawn", len(f.questions), len(f.withdrawn))
	}
}

func TestWhatATaskDoesNotAskAnyMoreIsWithdrawn(t *testing.T) {
	s := newTaskServer(t, true)
	f := begin(t, dial(t, s.URL, nil), "may", nil)
	f.ref()
	s.set("t1", "input_required", asks(asksName, asksAge), "")
	first, _ := f.next(), f.next()
	s.set("t1", "input_required", asks(asksAge), "")
	doing(t, "the withdrawal", func() {
		if id := <-f.withdrawn; id != string(first.message.ID()) {
			t.Errorf("%s was withdrawn, want %s", id, first.message.ID())
		}
	})
	first.accept() // too late
	s.set("t1", "working", "", "")
	doing(t, "the other withdrawal", func() { <-f.withdrawn })
	s.set("t1", "input_required", asks(asksName), "")
	f.next().answer(wire.Result([]byte("1"), []byte(`{"action":"accept","again":true}`))) // it is asked anew
	if got := string(wire.Get(s.await("tasks/update", 1).message.Params(), "inputResponses")); got != `{"name":{"action":"accept","again":true}}` {
		t.Errorf("the server got %s", got)
	}
}

func TestANoToWhatATaskAsks(t *testing.T) {
	no := wire.Failure([]byte("1"), wire.Errorf(-32603, "nobody is there"))
	t.Run("is a decline of an elicitation", func(t *testing.T) {
		s := newTaskServer(t, true)
		f := begin(t, dial(t, s.URL, nil), "may", nil)
		f.ref()
		s.set("t1", "input_required", asks(asksName), "")
		f.next().answer(no)
		if got := string(wire.Get(s.await("tasks/update", 1).message.Params(), "inputResponses")); got != `{"name":{"action":"decline"}}` {
			t.Errorf("the server got %s", got)
		}
	})
	for name, c := range map[string]struct {
		request string
		change  func(*Request)
		answer  bool
	}{
		"ends a task that wants sampling":              {`"s":{"method":"sampling/createMessage","params":{}}`, nil, true},
		"is all there is to what cannot be understood": {`"s":{"params":{}}`, nil, false},
		"is all there is where nobody can be asked":    {`"s":{"method":"roots/list"}`, func(r *Request) { r.Ask = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTaskServer(t, true)
			f := begin(t, dial(t, s.URL, nil), "may", c.change)
			f.ref()
			s.set("t1", "input_required", asks(c.request), "")
			if c.answer {
				f.next().answer(no)
			}
			f.wantError("no_answer", Unknown)
			s.await("tasks/cancel", 1)
			s.expect("tasks/update", 0)
		})
	}
}

func TestAHandlerTakesWhatATaskAsksWhereTheCallTakesNothing(t *testing.T) {
	s := newTaskServer(t, true)
	c := dial(t, s.URL, func(o *Options) {
		o.Handler.Request = func(m wire.Message, answer func(wire.Message)) {
			answer(wire.Result(m.ID(), []byte(`{"action":"cancel"}`)))
		}
	})
	f := begin(t, c, "may", func(r *Request) { r.Ask = nil })
	f.ref()
	s.set("t1", "input_required", asks(asksName), "")
	if got := string(wire.Get(s.await("tasks/update", 1).message.Params(), "inputResponses")); got != `{"name":{"action":"cancel"}}` {
		t.Errorf("the server got %s", got)
	}
}

func TestAnAnswerToATaskIsSentUntilTheServerHasIt(t *testing.T) {
	s := newTaskServer(t, true)
	s.pace = `,"pollIntervalMs":1000`
	inTime(t, s, func(t *testing.T, c *Client) {
		taken := s.handlers["tasks/update"]
		s.on("tasks/update", hangUp)
		f := begin(t, c, "may", wishes)
		time.Sleep(time.Second)
		s.set("t1", "input_required", asks(asksName, asksAge), "")
		time.Sleep(2 * time.Second)
		f.next().accept()
		time.Sleep(10 * time.Minute)
		if n := len(s.visits("tasks/update")); n < 20 {
			t.Errorf("it was tried %d times", n)
		}
		f.next().accept()
		s.on("tasks/update", taken)
		time.Sleep(time.Minute)
		all := s.visits("tasks/update")
		if got := string(wire.Get(all[len(all)-1].message.Params(), "inputResponses")); got != `{"age":{"action":"accept"},"name":{"action":"accept"}}` {
			t.Errorf("the server got %s", got)
		}
		time.Sleep(time.Minute)
		s.expect("tasks/update", len(all))
	})
}

func TestAServerThatRefusesAnAnswerAgainAndAgainIsNotWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		update handler
		times  int
	}{
		"for now": {failure(200, -32603, "database is locked"), 1 + updateTries}, "for good": {refuse404, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTaskServer(t, true)
			s.on("tasks/update", c.update)
			inTime(t, s, func(t *testing.T, client *Client) {
				f := begin(t, client, "may", wishes)
				time.Sleep(time.Second)
				s.set("t1", "input_required", asks(asksName), "")
				time.Sleep(time.Second)
				f.next().accept()
				time.Sleep(10 * time.Minute)
				if got := <-f.answer; got.err == nil || got.err.Reason != "answer_undelivered" {
					t.Errorf("got %s, %v", got.message.Raw(), got.err)
				}
				s.expect("tasks/update", c.times)
				s.expect("tasks/cancel", 1)
			})
		})
	}
}

func TestATaskThatAsksWithoutEndIsGivenUp(t *testing.T) {
	s := newTaskServer(t, true)
	n := 0
	s.on("tasks/get", func(w http.ResponseWriter, v visit) {
		s.mu.Lock()
		var requests []string
		for range 3000 {
			n++
			requests = append(requests, fmt.Sprintf(`"k%d":{"method":"elicitation/create"}`, n))
		}
		s.mu.Unlock()
		s.set("t1", "input_required", asks(requests...), "")
		s.get(w, v)
	})
	f := begin(t, dial(t, s.URL, nil), "may", func(r *Request) {
		r.Ask = func(_ wire.Message, answer func(wire.Message)) func() {
			answer(wire.Result([]byte("1"), []byte(`{"action":"accept"}`)))
			return nil
		}
	})
	f.wantError("upstream_invalid", Unknown)
	s.await("tasks/cancel", 1)
}
