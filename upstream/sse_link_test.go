package upstream

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// oldSSE is a server of revision 2024-11-05 at /sse. Its answers, which the
// handlers write to the stream, come in the order of the requests.
type oldSSE struct {
	*web
	outbox chan wire.Message
	end    chan struct{} // one for each stream that is to end
}

func newOldSSE(t *testing.T, endpoint string, more map[string]handler) *oldSSE {
	s := &oldSSE{outbox: make(chan wire.Message, 10), end: make(chan struct{}, 1)}
	handlers := map[string]handler{
		"GET":        func(w http.ResponseWriter, v visit) { s.stream(w, v, endpoint) },
		"initialize": s.result(`{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"oldest"}}`),
		"tools/list": s.result(`{"tools":[]}`),
	}
	for name, h := range more {
		handlers[name] = h
	}
	s.web = newWeb(t, handlers)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/sse" {
			http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
			return
		}
		s.ServeHTTP(w, r)
	})
	return s
}

func (s *oldSSE) stream(w http.ResponseWriter, v visit, endpoint string) {
	out := openStream(w)
	out.send("event: endpoint\ndata: " + endpoint + "\n\n")
	for {
		select {
		case m := <-s.outbox:
			out.send("event: message\ndata: " + string(m.Raw()) + "\n\n")
		case <-s.end:
			return
		case <-v.request.Context().Done():
			return
		}
	}
}

func (s *oldSSE) result(result string) handler {
	return func(w http.ResponseWriter, v visit) {
		w.WriteHeader(http.StatusAccepted)
		s.outbox <- wire.Result(v.message.ID(), []byte(result))
	}
}

func TestTheOldTransportIsFoundAndSpoken(t *testing.T) {
	for _, era := range []Era{Initialize, Stateless} {
		server := newOldSSE(t, "/messages?session=7", nil)
		client := dial(t, server.URL+"/sse", func(o *Options) { o.Hello.Era, o.Header = era, authorization("Bearer ours") })
		if got := ask(t, client, "tools/list", `{}`); got != `{"tools":[]}` {
			t.Errorf("the list came as %s", got)
		}
		for _, name := range []string{"initialize", "notifications/initialized", "tools/list"} {
			v := server.expect(name, 1)[0]
			if v.request.URL.String() != "/messages?session=7" || v.header("Authorization") != "Bearer ours" {
				t.Errorf("%s went to %s with %v", name, v.request.URL, v.request.Header)
			}
		}
		server.expect("GET", 1)
	}
}

func TestTheEndOfTheOldStreamIsTheEndOfTheSession(t *testing.T) {
	server := newOldSSE(t, "/messages", map[string]handler{"tools/call": func(w http.ResponseWriter, _ visit) { w.WriteHeader(http.StatusAccepted) }})
	lost := make(chan struct{}, 1)
	client := dial(t, server.URL+"/sse", func(o *Options) { o.Handler.Lost = func() { lost <- struct{}{} } })
	ask(t, client, "tools/list", `{}`)
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	server.await("tools/call", 1)
	server.end <- struct{}{}
	call.wantError("upstream_stream_cut", Unknown)
	doing(t, "the word of it", func() { <-lost })
	ask(t, client, "tools/list", `{}`)
	server.expect("initialize", 2)
	server.expect("tools/call", 1)
}

func TestAnEndpointElsewhereIsRefused(t *testing.T) {
	other := newWeb(t, map[string]handler{})
	server := newOldSSE(t, other.URL+"/messages", nil)
	err := send(t, dial(t, server.URL+"/sse", nil), "tools/list", `{}`, nil).wantError("upstream_start", NotDispatched)
	if !strings.Contains(err.Text, other.URL) {
		t.Errorf("the text does not name it: %s", err.Text)
	}
	if len(other.seen) > 0 {
		t.Errorf("the other server got %d requests", len(other.seen))
	}
}

func TestAnOldServerThatRefusesAPostFailsThatRequest(t *testing.T) {
	server := newOldSSE(t, "/messages", map[string]handler{"tools/call": plain(429, "text/plain", "busy")})
	client := dial(t, server.URL+"/sse", nil)
	send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_http", NotDispatched)
	ask(t, client, "tools/list", `{}`)
	server.expect("initialize", 1)
}

func TestAnOldServerHearsOfACancel(t *testing.T) {
	server := newOldSSE(t, "/messages", map[string]handler{"tools/call": func(w http.ResponseWriter, _ visit) { w.WriteHeader(http.StatusAccepted) }})
	client := dial(t, server.URL+"/sse", nil)
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	id := string(server.await("tools/call", 1).message.ID())
	client.Cancel(call.request, wire.Notification("notifications/cancelled", nil))
	if got := string(server.await("notifications/cancelled", 1).message.Params()); got != `{"requestId":`+id+`}` {
		t.Errorf("the notice was %s", got)
	}
}

func TestAStreamThatNeverNamesItsEndpointIsGivenUpByClose(t *testing.T) {
	server := newOldSSE(t, "/messages", map[string]handler{"GET": func(w http.ResponseWriter, v visit) {
		openStream(w)
		<-v.request.Context().Done()
	}})
	client := dial(t, server.URL+"/sse", func(o *Options) { o.ProbeWait = 10 * time.Millisecond })
	list := send(t, client, "tools/list", `{}`, nil)
	server.await("GET", 1)
	doing(t, "Close", func() { client.Close(t.Context()) })
	list.wantError("shutdown", NotDispatched)
}
