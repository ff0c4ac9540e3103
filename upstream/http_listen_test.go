package upstream

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// station is a server of the stateless era that keeps subscriptions open and
// sends the word of a change to all of them.
type station struct {
	*web
	list handler // of tools/list
	mu   sync.Mutex
	open map[chan bool]bool // true: a change, false: the end
	last chan bool          // the newest of open
	many int                // how many there have been
}

func newStation(t *testing.T) *station {
	s := &station{web: modern(t, nil), open: map[chan bool]bool{}}
	s.list = s.handlers["tools/list"]
	s.on("subscriptions/listen", s.listen)
	return s
}

func (s *station) listen(w http.ResponseWriter, v visit) {
	out, news := openStream(w), make(chan bool)
	s.mu.Lock()
	s.open[news], s.last = true, news
	s.many++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.open, news)
		s.mu.Unlock()
	}()
	meta := `"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(v.message.ID()) + `}`
	out.send(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + meta + `,"notifications":{"toolsListChanged":true}}}` + "\n\n")
	for {
		select {
		case more := <-news:
			if !more {
				return
			}
			out.send(`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + meta + "}}\n\n")
		case <-v.request.Context().Done():
			return
		}
	}
}

func (s *station) listeners() (all []chan bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for news := range s.open {
		all = append(all, news)
	}
	return all
}

// awaitListeners waits until so many subscriptions are open.
func (s *station) awaitListeners(t *testing.T, n int) []chan bool {
	t.Helper()
	doing(t, "the subscriptions that should be open", func() {
		for len(s.listeners()) != n {
			yieldABit()
		}
	})
	return s.listeners()
}

// awaitNewest waits for the n-th subscription, and until no other is open.
func (s *station) awaitNewest(t *testing.T, n int) (news chan bool) {
	t.Helper()
	doing(t, "the newest subscription", func() {
		for news == nil {
			s.mu.Lock()
			if s.many == n && len(s.open) == 1 && s.open[s.last] {
				news = s.last
			}
			s.mu.Unlock()
			yieldABit()
		}
	})
	return news
}

// loseOnce refuses the next tools/list as a server that was restarted would.
func (s *station) loseOnce() {
	s.on("tools/list", firstly(failure(400, -32000, "Server not initialized"), s.list))
}

func firstly(first, then handler) handler {
	var once sync.Once
	return func(w http.ResponseWriter, v visit) {
		do := then
		once.Do(func() { do = first })
		do(w, v)
	}
}

func listenTo(t *testing.T, client *Client) (l *Listen, heard chan string) {
	heard = make(chan string, 10)
	l = &Listen{Filter: []byte(`{"toolsListChanged":true}`),
		Notify: func(m wire.Message) { heard <- m.Method() }, Ended: func() { t.Error("the subscription ended") }}
	if _, err := client.Listen(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return l, heard
}

func TestASubscriptionMovesToTheSessionBehindALostOne(t *testing.T) {
	server := newStation(t)
	client := dial(t, server.URL, nil)
	l, heard := listenTo(t, client)
	server.awaitListeners(t, 1)
	for n := 2; n < 4; n++ {
		server.loseOnce()
		ask(t, client, "tools/list", `{}`)
		server.awaitNewest(t, n) <- true
		doing(t, "the news", func() { <-heard })
	}
	client.Unlisten(l)
	server.awaitListeners(t, 0)
	if len(heard) > 0 {
		t.Errorf("a change came twice: %s", <-heard)
	}
	server.expect("subscriptions/listen", 3)
}

// The older server would refuse the request, and the listener be told that all
// is over; list changes come to it unasked.
func TestASubscriptionWhoseServerIsReplacedByAnOlderOneIsNotAskedForThere(t *testing.T) {
	server := newStation(t)
	client := dial(t, server.URL, nil)
	l, heard := listenTo(t, client)
	stream := server.awaitListeners(t, 1)[0]
	replaceByOlder(server.web, failure(400, -32000, "Bad Request: Server not initialized"))
	news := make(chan bool)
	server.on("GET", func(w http.ResponseWriter, v visit) {
		out := openStream(w)
		select {
		case <-news:
		case <-v.request.Context().Done():
			return
		}
		out.send(`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n\n")
		<-v.request.Context().Done()
	})
	select { // the stream is cut, and in the pause behind that the server is found to be another
	case stream <- false:
	case <-time.After(patience):
		t.Fatal("the stream is stuck")
	}
	doing(t, "the client sees the cut", func() {
		for cut := false; !cut; yieldABit() {
			client.mu.Lock()
			cut = l.opening
			client.mu.Unlock()
		}
	})
	if got := ask(t, client, "tools/list", `{}`); got != `{"old":true}` {
		t.Fatalf("the older server was asked for %s", got)
	}
	doing(t, "the word that something may have been missed", func() { <-heard })
	close(news)
	doing(t, "the news of the older server", func() { <-heard })
	client.Unlisten(l)
	if server.expect("subscriptions/listen", 1); len(heard) > 0 {
		t.Errorf("a change came twice: %s", <-heard)
	}
}

// A session may be lost while a subscription is being opened on it.
func TestASubscriptionThatIsBeingOpenedMovesToo(t *testing.T) {
	server := newStation(t)
	server.on("subscriptions/listen", firstly(func(w http.ResponseWriter, v visit) {
		openStream(w) // and no acknowledgement
		<-v.request.Context().Done()
	}, server.listen))
	client := dial(t, server.URL, nil)
	opened := make(chan error, 1)
	l := &Listen{Filter: []byte(`{"toolsListChanged":true}`), Notify: func(wire.Message) {}, Ended: func() { t.Error("the subscription ended") }}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() { _, err := client.Listen(ctx, l); opened <- err }()
	server.await("subscriptions/listen", 1)
	server.loseOnce()
	ask(t, client, "tools/list", `{}`)
	if err := <-opened; err != nil {
		t.Errorf("it was not opened: %v", err)
	}
	server.awaitListeners(t, 1)
	client.Unlisten(l)
	server.awaitListeners(t, 0)
	server.expect("subscriptions/listen", 2)
}
