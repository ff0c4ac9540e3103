//go:build unix

package upstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func TestATaskIsFollowedByALaterClient(t *testing.T) {
	for _, extension := range []bool{false, true} {
		for _, when := range []string{"before", "behind"} {
			s := newTaskServer(t, extension)
			c := dial(t, s.URL, nil)
			f := begin(t, c, "may", nil)
			ref := f.ref()
			doing(t, "Close", func() { c.Close(t.Context()) })
			if when == "before" {
				s.set("t1", "completed", "", `"result":{"content":[]}`)
			}
			later := takeUp(t, dial(t, s.URL, nil), ref)
			if when == "behind" {
				polls := len(s.visits("tasks/get"))
				s.await("tasks/get", polls+1)
				s.set("t1", "completed", "", `"result":{"content":[]}`)
			}
			later.asking.result()
			if len(later.made) > 0 {
				t.Error("a task that is resumed was said to be made")
			}
			s.expect("tools/call", 1)
			s.expect("tasks/cancel", 0)
		}
	}
}

func TestAResumedTaskAsksAndIsCancelledLikeAnyOther(t *testing.T) {
	s := newTaskServer(t, false)
	say := make(chan string)
	s.on("GET", speaking(say))
	s.create("input_required")
	f := takeUp(t, dial(t, s.URL, nil), refOf(t, olderTasks, "t1"))
	s.await("tasks/result", 1)
	s.await("GET", 1)
	say <- elicitation(`"q1"`, `"io.modelcontextprotocol/related-task":{"taskId":"t1"}`)
	f.next().accept()
	s.await("answer", 1)
	c := f.request.follow.client
	if c.IdleFor() > 0 || !c.Cancel(f.request, cancelNotice) {
		t.Error("it is not open")
	}
	s.await("tasks/cancel", 1)
	s.expect("notifications/cancelled", 0)
}

func refOf(t *testing.T, g generation, id string) []byte {
	ref, err := newRef(g, wire.Set(nil, "taskId", wire.Quote(id)))
	if err != nil {
		t.Fatal(err)
	}
	return ref.encode()
}

func TestATaskThatCannotBeResumedIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		extension bool
		ref       []byte
		text      string
	}{
		"of the other era":      {true, refOf(t, olderTasks, "t1"), "stateless era"},
		"of the era before":     {false, refOf(t, extensionTasks, "t1"), "initialize era"},
		"unknown":               {true, refOf(t, extensionTasks, "t1"), "-32602"},
		"unknown to an older":   {false, refOf(t, olderTasks, "t1"), "-32602"},
		"no reference":          {true, []byte("garbage"), "cannot be read"},
		"a later one":           {true, []byte(`{"v":2,"generation":2,"task":"InQxIg=="}`), "cannot be read"},
		"of another generation": {true, []byte(`{"v":1,"generation":3,"task":"InQxIg=="}`), "cannot be read"},
		"without an id":         {true, []byte(`{"v":1,"generation":2}`), "cannot be read"},
		"with one that is none": {true, []byte(`{"v":1,"generation":2,"task":"InQxIiw="}`), "cannot be read"},
		"nothing":               {true, nil, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTaskServer(t, c.extension)
			err := takeUp(t, dial(t, s.URL, nil), c.ref).wantError("upstream_task_lost", Unknown)
			if !strings.Contains(err.Text, c.text) {
				t.Errorf("the error says %s, nothing of %s", err.Text, c.text)
			}
			s.expect("tools/call", 0)
		})
	}
}

func TestATaskIsLostWhereItsServerIsReplacedByOneOfTheOtherEra(t *testing.T) {
	for _, extension := range []bool{false, true} {
		s, other := newTaskServer(t, extension), newTaskServer(t, !extension)
		f := begin(t, dial(t, s.URL, nil), "may", nil)
		f.ref()
		s.await("tasks/get", 1)
		refusal := failure(http.StatusBadRequest, -32022, "Unsupported protocol version") // by which either knows the other
		want := "stateless era"
		if extension {
			refusal, want = failure(http.StatusBadRequest, -32000, "Bad Request: Server not initialized"), "initialize era"
		}
		for _, name := range []string{"server/discover", "initialize", "tasks/get", "tasks/result"} {
			s.on(name, other.handlers[name])
		}
		refused := false
		s.on("tasks/get", func(w http.ResponseWriter, v visit) {
			s.mu.Lock()
			first := !refused
			refused = true
			s.mu.Unlock()
			if first {
				refusal(w, v)
				return
			}
			other.get(w, v)
		})
		s.CloseClientConnections()
		if err := f.wantError("upstream_task_lost", Unknown); !strings.Contains(err.Text, want) {
			t.Errorf("the error says %s", err.Text)
		}
		s.expect("tools/call", 1)
	}
}

func TestAServerThatComesBackLaterIsWaitedFor(t *testing.T) {
	s := newTaskServer(t, true)
	id := s.create("working")
	inTime(t, s, func(t *testing.T, c *Client) {
		var back atomic.Bool
		reach := c.opts.Dial
		c.opts.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if !back.Load() {
				return nil, errors.New("connection refused")
			}
			return reach(ctx, network, address)
		}
		f := takeUp(t, c, refOf(t, extensionTasks, id))
		time.Sleep(time.Hour)
		back.Store(true)
		s.set(id, "completed", "", `"result":{"content":[]}`)
		began := time.Now()
		<-f.statuses
		if got := <-f.answer; got.err != nil || time.Since(began) > 2*longestBackoff {
			t.Errorf("after %v: %v", time.Since(began), got.err)
		}
	})
}

func TestAServerThatIsWaitedForCanBeGivenUp(t *testing.T) {
	s := newTaskServer(t, true)
	discover := s.handlers["server/discover"]
	s.on("server/discover", hangUp)
	inTime(t, s, func(t *testing.T, c *Client) {
		f := takeUp(t, c, refOf(t, extensionTasks, "t1"))
		time.Sleep(time.Minute)
		if c.IdleFor() > 0 || !c.Cancel(f.request, cancelNotice) || c.Cancel(f.request, cancelNotice) {
			t.Error("it could not be cancelled, or twice")
		}
		time.Sleep(time.Second)
		s.on("server/discover", discover)
		time.Sleep(time.Minute)
		s.expect("tasks/cancel", 1) // of which it hears when it is back soon
		if len(f.answer) > 0 || c.IdleFor() == 0 {
			t.Errorf("%d answers; idle for %v", len(f.answer), c.IdleFor())
		}
	})
}

func TestAServerThatWantsOtherCredentialsIsNotWaitedFor(t *testing.T) {
	s := newTaskServer(t, true)
	s.on("server/discover", plain(http.StatusUnauthorized, "text/plain", "no"))
	takeUp(t, dial(t, s.URL, nil), refOf(t, extensionTasks, "t1")).wantError("upstream_unauthorized", Unknown)
}

func TestATaskIsPolledWithTheNewestCredentials(t *testing.T) {
	s := newTaskServer(t, true)
	c := dial(t, s.URL, nil)
	f := begin(t, c, "may", func(r *Request) { r.Header = authorization("Bearer first") })
	f.ref()
	if v := s.await("tasks/get", 1); v.header("Authorization") != "Bearer first" {
		t.Errorf("the first poll has %q", v.header("Authorization"))
	}
	send(t, c, "tools/list", "{}", func(r *Request) { r.Header = authorization("Bearer second") }).result()
	n := len(s.visits("tasks/get"))
	if v := s.await("tasks/get", n+2); v.header("Authorization") != "Bearer second" {
		t.Errorf("a later poll has %q", v.header("Authorization"))
	}
}

func TestATaskOfAChildThatIsGoneIsLost(t *testing.T) {
	s := Options{Command: childCommand("puppet", "tasks"), Hello: Hello{Info: []byte(`{"name":"test"}`)}}
	c := New(s)
	defer c.Close(t.Context())
	f := takeUp(t, c, refOf(t, olderTasks, "t1"))
	c.Cancel(f.request, cancelNotice)
	f = takeUp(t, c, refOf(t, extensionTasks, "t1"))
	f.wantError("upstream_task_lost", Unknown)
}

func TestOnlyAServerOverHTTPCanBeResumed(t *testing.T) {
	if Resumable(Options{Command: Command{Args: []string{"x"}}}) || !Resumable(Options{URL: "http://x"}) {
		t.Error("it is the other way round")
	}
	c := New(Options{URL: "http://x"})
	c.Close(t.Context())
	takeUp(t, c, refOf(t, olderTasks, "t1")).wantError("shutdown", Unknown)
}
