package upstream

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func older(o *Options) { o.Hello.Era = Initialize }

func TestASessionIsNamedFromInitializeUntilItIsEnded(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result(`{"tools":[]}`)})
	client := dial(t, server.URL, older)
	ask(t, client, "tools/list", `{"_meta":{"io.modelcontextprotocol/clientInfo":1}}`)
	server.await("GET", 1)
	doing(t, "Close", func() { client.Close(t.Context()) })
	if v := server.expect("initialize", 1)[0]; v.header("Mcp-Session-Id")+v.header("Mcp-Protocol-Version")+v.header("Mcp-Method") != "" {
		t.Errorf("initialize has the headers %v", v.request.Header)
	}
	for _, name := range []string{"notifications/initialized", "tools/list", "GET", "DELETE"} {
		v := server.expect(name, 1)[0]
		if v.header("Mcp-Session-Id") != "s1" || v.header("Mcp-Protocol-Version") != "2025-06-18" || v.header("Mcp-Method") != "" {
			t.Errorf("%s has the headers %v", name, v.request.Header)
		}
	}
}

func TestRequestsComeBehindTheNotificationBeforeThem(t *testing.T) {
	var initialized atomic.Bool
	server := legacy(t, map[string]handler{
		"notifications/initialized": func(w http.ResponseWriter, _ visit) {
			<-time.After(50 * time.Millisecond)
			initialized.Store(true)
			w.WriteHeader(http.StatusAccepted)
		},
		"tools/list": func(w http.ResponseWriter, v visit) {
			if !initialized.Load() {
				t.Error("a request came before notifications/initialized was answered")
			}
			result(`{}`)(w, v)
		},
	})
	client := dial(t, server.URL, func(o *Options) {
		o.Hello.Era, o.Hello.Params = Initialize, []byte(`{"protocolVersion":"2025-06-18"}`)
	})
	if _, err := client.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.expect("notifications/initialized", 0) // it is the host's to send
	client.Notify(wire.Notification("notifications/initialized", nil))
	ask(t, client, "tools/list", `{}`)
}

func TestACancelIsPostedAndTheStreamClosed(t *testing.T) {
	gone := make(chan struct{})
	server := legacy(t, map[string]handler{"tools/call": func(w http.ResponseWriter, v visit) {
		openStream(w)
		<-v.request.Context().Done()
		close(gone)
	}})
	client := dial(t, server.URL, older)
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	id := server.await("tools/call", 1).message.ID()
	client.Cancel(call.request, wire.Notification("notifications/cancelled", []byte(`{"requestId":"theirs","reason":"why"}`)))
	want := fmt.Sprintf(`{"requestId":%s,"reason":"why"}`, id)
	if got := string(server.await("notifications/cancelled", 1).message.Params()); got != want {
		t.Errorf("the notice was %s, want %s", got, want)
	}
	within(t, "the end of the stream", gone)
}

func TestACancelBeforeTheRequestHasLeftLeavesNothing(t *testing.T) {
	release := make(chan struct{})
	server := legacy(t, map[string]handler{"notifications/initialized": func(w http.ResponseWriter, _ visit) {
		<-release
		w.WriteHeader(http.StatusAccepted)
	}, "tools/list": result("{}")})
	client := dial(t, server.URL, older)
	if _, err := client.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	client.Cancel(call.request, wire.Notification("notifications/cancelled", nil))
	close(release)
	ask(t, client, "tools/list", `{}`)
	client.Close(t.Context())
	server.expect("tools/call", 0)
	server.expect("notifications/cancelled", 0)
}

func TestAQuestionOnTheRequestsStreamGoesToItsOwner(t *testing.T) {
	answered := make(chan struct{})
	server := legacy(t, map[string]handler{
		"tools/call": func(w http.ResponseWriter, v visit) {
			out := openStream(w)
			out.send(`data: {"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"sure?"}}` + "\n\n")
			<-answered
			out.message(wire.Result(v.message.ID(), []byte(`{"content":[]}`)))
		},
		"answer": func(w http.ResponseWriter, v visit) {
			if got := string(v.message.Raw()); got != `{"jsonrpc":"2.0","id":5,"result":{"action":"accept"}}` {
				t.Errorf("the answer was %s", got)
			}
			w.WriteHeader(http.StatusAccepted)
			close(answered)
		},
	})
	client := dial(t, server.URL, func(o *Options) {
		o.Hello.Era = Initialize
		o.Handler.Request = func(wire.Message, func(wire.Message)) { t.Error("the question went to the handler") }
	})
	send(t, client, "tools/call", `{"name":"run"}`, func(r *Request) {
		r.Ask = func(m wire.Message, answer func(wire.Message)) func() {
			answer(wire.Result([]byte(`"any"`), []byte(`{"action":"accept"}`)))
			return nil
		}
	}).result()
}
