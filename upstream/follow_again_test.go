package upstream

import (
	"net/http"
	"testing"
	"time"
)

func TestAResultIsAskedForAgain(t *testing.T) {
	const done = `"result":{"content":[]}`
	for name, c := range map[string]struct {
		first handler
		least int // requests for it
	}{
		"where the stream is cut":           {cutAtOnce, 2},
		"where the connection is cut":       {hangUp, 2},
		"where something on the way is ill": {plain(504, "text/html", "<h1>Timeout</h1>"), 2},
		"where the server does not block":   {failure(200, -32002, "Task is not completed"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTaskServer(t, false)
			blocking := s.handlers["tasks/result"]
			s.on("tasks/result", func(w http.ResponseWriter, v visit) {
				if len(s.visits("tasks/result")) > 1 {
					blocking(w, v)
					return
				}
				c.first(w, v)
			})
			f := begin(t, dial(t, s.URL, nil), "may", nil)
			f.ref()
			s.await("tasks/result", c.least)
			s.set("t1", "completed", "", done)
			f.asking.result()
			s.expect("tools/call", 1)
		})
	}
}

// Something on the way that cuts every stream after a minute is no server in
// trouble.
func TestAResultWhoseStreamIsCutEveryMinuteIsAskedForSoon(t *testing.T) {
	s := newTaskServer(t, false)
	s.pace = `,"pollInterval":1000`
	s.on("tasks/result", func(w http.ResponseWriter, v visit) {
		openStream(w)
		if pause(v.request.Context(), time.Minute) {
			panic(http.ErrAbortHandler)
		}
	})
	inTime(t, s, func(t *testing.T, c *Client) {
		f := begin(t, c, "may", nil)
		time.Sleep(20 * time.Minute)
		if n := len(s.visits("tasks/result")); n < 19 {
			t.Errorf("in twenty minutes it was asked for %d times", n)
		}
		c.Cancel(f.request, cancelNotice)
	})
}

// What the server asks comes on the stream of the result: nobody waits for that
// any longer than for the word that it asks.
func TestAResultIsAskedForAtOnceWhereTheServerWantsInput(t *testing.T) {
	s := newTaskServer(t, false)
	s.pace = `,"pollInterval":2000`
	blocking := s.handlers["tasks/result"]
	s.on("tasks/result", cutAtOnce)
	inTime(t, s, func(t *testing.T, c *Client) {
		f := begin(t, c, "may", nil)
		f.ref()
		time.Sleep(20*time.Minute + 10*time.Second) // it is tried every 30 s by now
		n := len(s.visits("tasks/result"))
		s.on("tasks/result", blocking)
		s.set("t1", "input_required", "", "")
		time.Sleep(3 * time.Second)
		s.expect("tasks/result", n+1)
		c.Cancel(f.request, cancelNotice)
	})
}

func TestATaskIsFollowedBeyondItsSession(t *testing.T) {
	s := newTaskServer(t, false)
	say := make(chan string)
	s.on("GET", speaking(say))
	c := dial(t, s.URL, nil)
	f := begin(t, c, "may", nil)
	f.ref()
	s.await("tasks/result", 1)
	former := f.request.conn
	say <- elicitation(`"q1"`, `"io.modelcontextprotocol/related-task":{"taskId":"t1"}`)
	f.next()
	say = make(chan string)
	s.on("GET", speaking(say)) // of the session that is to come
	get := s.handlers["tasks/get"]
	s.on("tasks/get", func(w http.ResponseWriter, v visit) {
		if v.header("Mcp-Session-Id") == "s1" {
			plain(404, "text/plain", "Session not found")(w, v)
			return
		}
		get(w, v)
	})
	doing(t, "the withdrawal of what the former session asked", func() { <-f.withdrawn })
	if v := s.await("tasks/result", 2); v.header("Mcp-Session-Id") != "s2" {
		t.Errorf("the result was asked for on session %s", v.header("Mcp-Session-Id"))
	}
	s.await("GET", 2)
	say <- elicitation(`"q2"`, `"io.modelcontextprotocol/related-task":{"taskId":"t1"}`)
	f.next().accept()
	if got := s.await("answer", 1); string(got.message.ID()) != `"q2"` || got.header("Mcp-Session-Id") != "s2" {
		t.Errorf("the server got %s on session %s", got.message.Raw(), got.header("Mcp-Session-Id"))
	}
	if c.IdleFor() != 0 {
		t.Error("the client is called idle")
	}
	s.set("t1", "completed", "", `"result":{"content":[]}`)
	f.asking.result()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(former.open) > 0 {
		t.Errorf("%d requests are open on the former session", len(former.open))
	}
	s.expect("initialize", 2)
	s.expect("tools/call", 1)
}

func TestAServerThatIsAwayIsTriedEverMoreSeldom(t *testing.T) {
	s := newTaskServer(t, false)
	inTime(t, s, func(t *testing.T, client *Client) {
		get, blocking := s.handlers["tasks/get"], s.handlers["tasks/result"]
		s.on("tasks/get", plain(502, "text/plain", "restarting"))
		s.on("tasks/result", cutAtOnce)
		f := begin(t, client, "may", nil)
		f.ref()
		time.Sleep(time.Hour)
		if n := len(s.visits("tasks/get")); n < 100 || n > 130 {
			t.Errorf("in an hour the server was asked %d times, want twice a minute", n)
		}
		s.on("tasks/get", get)
		s.on("tasks/result", blocking)
		s.set("t1", "completed", "", `"result":{"content":[]}`)
		began := time.Now()
		f.asking.result()
		if took := time.Since(began); took > longestBackoff {
			t.Errorf("the result was there after %v", took)
		}
	})
}
