package upstream

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

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

func TestAStreamThatIsCutIsTakenUpAgainWhenTheServerSaidSo(t *testing.T) {
	const retry = 200 * time.Millisecond
	var cut, id atomic.Value
	server := legacy(t, map[string]handler{
		"tools/call": func(w http.ResponseWriter, v visit) {
			id.Store(string(v.message.ID()))
			cut.Store(time.Now()) // or a little later
			openStream(w).send(fmt.Sprintf("id: call-1\nretry: %d\ndata: \n\n", retry.Milliseconds()))
		},
	})
	rounds := 0
	server.on("GET", func(w http.ResponseWriter, v visit) {
		last := v.header("Last-Event-Id")
		if last == "" {
			plain(405, "", "")(w, v)
			return
		}
		if early := retry - time.Since(cut.Load().(time.Time)); early > 0 {
			t.Errorf("the client came back %v too early", early)
		}
		if rounds++; last != fmt.Sprint("call-", rounds) || v.header("Mcp-Session-Id") != "s1" || v.header("X-Owner") != "me" {
			t.Errorf("round %d has the headers %v", rounds, v.request.Header)
		}
		cut.Store(time.Now())
		out := openStream(w)
		out.send(fmt.Sprintf("id: call-%d\n", rounds+1))
		if rounds <= resumeTries+2 { // as long as it goes on, it may take any number
			out.send("data: \n\n")
		} else {
			out.send(`data: {"jsonrpc":"2.0","id":` + id.Load().(string) + `,"result":{"late":true}}` + "\n\n")
		}
	})
	client := dial(t, server.URL, older)
	got := send(t, client, "tools/call", `{"name":"run"}`, func(r *Request) { r.Header = http.Header{"X-Owner": {"me"}} }).result()
	if got != `{"late":true}` {
		t.Errorf("the result was %s", got)
	}
	server.expect("tools/call", 1)
}

func TestAStreamThatCannotBeTakenUpIsGivenUp(t *testing.T) {
	for name, again := range map[string]handler{
		"refused":     plain(400, "text/plain", "no"),
		"no progress": sse(": nothing\n\n"),
		"broken":      hangUp,
		"session":     plain(404, "text/plain", "session not found"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := legacy(t, map[string]handler{"tools/call": sse("id: 1\nretry: 1\ndata: \n\n")})
			server.on("GET", func(w http.ResponseWriter, v visit) {
				if v.header("Last-Event-Id") == "" {
					plain(405, "", "")(w, v)
					return
				}
				again(w, v)
			})
			reason := "upstream_stream_cut"
			if name == "session" {
				reason = "upstream_session_lost"
			}
			send(t, dial(t, server.URL, older), "tools/call", `{"name":"run"}`, nil).wantError(reason, Unknown)
			if n := len(server.visits("GET")); n > 1+2*resumeTries {
				t.Errorf("it was tried %d times", n)
			}
		})
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
