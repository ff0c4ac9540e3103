package upstream

import (
	"net/http"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func TestTheServersOwnStreamIsKeptOpen(t *testing.T) {
	server := legacy(t, map[string]handler{"GET": func(w http.ResponseWriter, v visit) {
		out := openStream(w)
		if v.header("Last-Event-Id") == "" {
			out.send("id: e1\nretry: 20\ndata: \n\n" + `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n\n")
			return
		}
		out.send(`data: {"jsonrpc":"2.0","id":"q","method":"roots/list"}` + "\n\n")
		<-v.request.Context().Done()
	}})
	heard := make(chan string, 10)
	client := dial(t, server.URL, func(o *Options) {
		o.Hello.Era = Initialize
		o.Handler.Notification = func(m wire.Message) { heard <- m.Method() }
		o.Handler.Request = func(m wire.Message, answer func(wire.Message)) { answer(wire.Result(m.ID(), []byte(`{"roots":[]}`))) }
	})
	if _, err := client.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != "notifications/tools/list_changed" {
		t.Errorf("heard %s", got)
	}
	if v := server.await("answer", 1); string(v.message.Raw()) != `{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}` || v.header("Mcp-Session-Id") != "s1" {
		t.Errorf("the answer was %s with %v", v.message.Raw(), v.request.Header)
	}
	if got := server.await("GET", 2).header("Last-Event-Id"); got != "e1" {
		t.Errorf("the second stream was asked for behind event %q", got)
	}
}

func TestAServerWithoutAStreamOfItsOwnIsAskedForItOnce(t *testing.T) {
	for _, status := range []int{405, 404, 400, 200} {
		server := legacy(t, map[string]handler{"GET": plain(status, "text/plain", ""), "tools/list": result("{}")})
		client := dial(t, server.URL, older)
		ask(t, client, "tools/list", `{}`)
		server.await("GET", 1)
		ask(t, client, "tools/list", `{}`)
		client.Close(t.Context())
		server.expect("GET", 1)
		server.expect("initialize", 1)
	}
}

func TestAStreamThatTheServerRefusesToGoOnWithIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		again  handler
		reason string
	}{
		"refused": {plain(400, "text/plain", "no"), "upstream_stream_cut"},
		"session": {plain(404, "text/plain", "session not found"), "upstream_session_lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := legacy(t, map[string]handler{"tools/call": sse("id: 1\nretry: 1\ndata: \n\n"), "GET": rest(c.again)})
			send(t, dial(t, server.URL, older), "tools/call", `{"name":"run"}`, nil).wantError(c.reason, Unknown)
			server.expect("GET", 2)
		})
	}
}

// rest serves GET: there is no stream for the server's own messages.
func rest(again handler) handler {
	return func(w http.ResponseWriter, v visit) {
		if v.header("Last-Event-Id") == "" {
			plain(405, "", "")(w, v)
			return
		}
		again(w, v)
	}
}

func TestTheServersOwnStreamIsAskedForBeforeTheFirstRequest(t *testing.T) {
	asked := make(chan struct{})
	server := legacy(t, map[string]handler{
		"GET": func(w http.ResponseWriter, v visit) {
			close(asked)
			<-v.request.Context().Done() // without a word: there are servers that begin with the first event
		},
		"tools/list": func(w http.ResponseWriter, v visit) {
			within(t, "the request for the stream", asked)
			result(`{}`)(w, v)
		},
	})
	ask(t, dial(t, server.URL, older), "tools/list", `{}`)
}
