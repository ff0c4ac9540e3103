package upstream

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// asker is a server each of whose calls asks something, and ends when the
// answer has come.
type asker struct {
	*web
	url   string
	post  func(*Client) *posts
	takes handler // instead of the answers, as long as it is set; of web.mu

	// Of an old one.
	outbox chan wire.Message
	over   chan struct{} // closed when the test is
}

// askers are of both kinds that there are over HTTP.
var askers = map[string]func(*testing.T) *asker{"streamable": newStreamableAsker, "old": newOldAsker}

func newStreamableAsker(t *testing.T) *asker {
	a, taken := &asker{post: func(c *Client) *posts { return c.conn.link.(*httpLink).posts }}, make(chan struct{}, 1)
	a.web = legacy(t, map[string]handler{"tools/list": result("{}"), "tools/call": func(w http.ResponseWriter, v visit) {
		out := openStream(w)
		out.send("data: " + elicitation("7", "") + "\n\n")
		select {
		case <-taken:
			out.message(wire.Result(v.message.ID(), []byte(`{"asked":true}`)))
		case <-v.request.Context().Done():
		}
	}})
	a.url = a.URL
	a.onAnswer(func() { taken <- struct{}{} })
	return a
}

func newOldAsker(t *testing.T) *asker {
	s := newOldSSE(t, "/messages", nil)
	a := &asker{web: s.web, url: s.URL + "/sse", outbox: s.outbox, over: make(chan struct{}), post: func(c *Client) *posts { return c.conn.link.(*sseLink).posts }}
	t.Cleanup(func() { close(a.over) })
	question, _ := wire.Parse([]byte(elicitation("7", "")))
	s.on("tools/call", func(w http.ResponseWriter, _ visit) {
		w.WriteHeader(http.StatusAccepted)
		s.outbox <- question
	})
	a.onAnswer(func() { s.outbox <- wire.Result(s.visits("tools/call")[0].message.ID(), []byte(`{"asked":true}`)) })
	return a
}

func (a *asker) onAnswer(taken func()) {
	a.on("answer", func(w http.ResponseWriter, v visit) {
		a.mu.Lock()
		instead := a.takes
		a.mu.Unlock()
		if instead != nil {
			instead(w, v)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		taken()
	})
}

// fails has the server answer the next n answers with h; all if n is 0.
func (a *asker) fails(n int, h handler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.takes = func(w http.ResponseWriter, v visit) {
		a.mu.Lock()
		if n--; n == 0 {
			a.takes = nil
		}
		a.mu.Unlock()
		h(w, v)
	}
}

func eachAsker(t *testing.T, test func(t *testing.T, a *asker)) {
	for name, make := range askers {
		t.Run(name, func(t *testing.T) { test(t, make(t)) })
	}
}

func TestAnAnswerThatWasNotTakenIsPostedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		refuses handler
		least   time.Duration
	}{
		"503":             {plain(503, "text/plain", "restarting"), 3 * firstAnswerPause},
		"503 with a time": {laterAfter("1"), 2 * time.Second},
		"429":             {plain(429, "text/plain", "slow down"), 3 * firstAnswerPause},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachAsker(t, func(t *testing.T, a *asker) {
				a.fails(2, c.refuses)
				taker, client, began := newTaker(t), dial(t, a.url, older), time.Now()
				call := send(t, client, "tools/call", `{"name":"run"}`, taker.takes)
				taker.next().accept()
				if got := call.result(); got != `{"asked":true}` {
					t.Errorf("the call came to %s", got)
				}
				for _, v := range a.expect("answer", 3) {
					if got := string(v.message.Raw()); got != `{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}` {
						t.Errorf("the server got %s", got)
					}
				}
				if took := time.Since(began); took < c.least {
					t.Errorf("the server was left alone for %v, want %v", took, c.least)
				}
			})
		})
	}
}

func TestAnAnswerToAServerThatCannotBeReachedIsPostedOnceItCan(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.Config.SetKeepAlivesEnabled(false)
		var down atomic.Int64
		client, taker := dial(t, a.url, func(o *Options) {
			older(o)
			o.Dial = refusing(&down)
		}), newTaker(t)
		call := send(t, client, "tools/call", `{"name":"run"}`, taker.takes)
		question := taker.next()
		a.post(client).http.transport.CloseIdleConnections()
		down.Store(2)
		question.accept()
		call.result()
		a.expect("answer", 1)
	})
}

// refusing does not dial for as many times as down says.
func refusing(down *atomic.Int64) dialFunc {
	network := &net.Dialer{}
	return func(ctx context.Context, kind, address string) (net.Conn, error) {
		if down.Add(-1) >= 0 {
			return nil, &net.OpError{Op: "dial", Net: kind, Err: syscall.ECONNREFUSED}
		}
		return network.DialContext(ctx, kind, address)
	}
}

func TestAnAnswerOfWhichNobodyKnowsWhetherItArrivedEndsItsRequest(t *testing.T) {
	for name, c := range map[string]struct {
		refuses handler
		says    string
	}{
		"500":         {plain(500, "text/plain", "boom at line 7"), "HTTP 500 Internal Server Error (\"boom at line 7\")"},
		"400":         {plain(400, "text/plain", "what?"), "HTTP 400 Bad Request (\"what?\")"},
		"401":         {plain(401, "text/plain", "expired"), "HTTP 401"},
		"404":         {failure(404, wire.CodeMethodNotFound, "Method not found"), "HTTP 404"}, // not of the session
		"reset":       {hangUp, "without an answer"},
		"no HTTP":     {speakGarbage, "without an answer"},
		"a redirect":  {redirect(302, "/login"), "redirects"},
		"one too far": {redirect(307, "http://elsewhere.invalid/"), "another server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachAsker(t, func(t *testing.T, a *asker) {
				a.fails(0, c.refuses)
				taker, client := newTaker(t), dial(t, a.url, older)
				call := send(t, client, "tools/call", `{"name":"run"}`, taker.takes)
				taker.next().accept()
				err := call.wantError("answer_undelivered", Unknown)
				for _, text := range []string{"elicitation/create", c.says, Unknown.Sentence()} {
					if !strings.Contains(err.Text, text) {
						t.Errorf("the text does not say %q: %s", text, err.Text)
					}
				}
				id := a.expect("tools/call", 1)[0].message.ID()
				if notice := a.await("notifications/cancelled", 1).message; string(wire.Get(notice.Params(), "requestId")) != string(id) {
					t.Errorf("the server was told %s", notice.Raw())
				}
				a.expect("answer", 1)
				ask(t, client, "tools/list", "{}")
				a.expect("initialize", 1)
			})
		})
	}
}

func TestAnAnswerOnALostSessionEndsBoth(t *testing.T) {
	a := newStreamableAsker(t)
	a.fails(0, plain(404, "text/plain", "Session not found"))
	taker, client := newTaker(t), dial(t, a.url, older)
	first, second := send(t, client, "tools/call", `{"name":"run"}`, taker.takes), send(t, client, "tools/call", `{"name":"run"}`, taker.takes)
	early, late := taker.next(), taker.next()
	early.accept()
	a.await("answer", 1)
	doing(t, "the end of the session", func() {
		for client.live() {
			yieldABit()
		}
	})
	late.accept() // with nowhere to go
	for _, call := range []asking{first, second} {
		if err := call.wantError("upstream_session_lost", Unknown); !strings.Contains(err.Text, "elicitation/create") {
			t.Errorf("the text does not say what was asked: %s", err.Text)
		}
	}
	a.expect("answer", 1)
	ask(t, client, "tools/list", "{}")
	a.expect("initialize", 2)
}

// live reports whether there is a session.
func (c *Client) live() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn != nil
}
