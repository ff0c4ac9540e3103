package upstream

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func TestEveryRequestRepeatsItselfInHeaders(t *testing.T) {
	any := result(`{"resultType":"complete"}`)
	methods := map[string]handler{}
	for _, method := range []string{"tools/call", "prompts/get", "prompts/list", "resources/read", "tasks/get", "tasks/update", "tasks/cancel", "x/own"} {
		methods[method] = any
	}
	server := modern(t, methods)
	client := dial(t, server.URL, nil)
	for _, c := range []struct{ method, params, name string }{
		{"tools/call", `{"name":"run"}`, "run"},
		{"prompts/get", `{"name":"greet"}`, "greet"},
		{"prompts/list", `{"name":"not sent"}`, ""},
		{"resources/read", `{"uri":"file:///a%20b"}`, "file:///a%20b"},
		{"tasks/get", `{"taskId":"t1"}`, "t1"},
		{"tasks/update", `{"taskId":"t2"}`, "t2"},
		{"tasks/cancel", `{"taskId":"t3"}`, "t3"},
		{"prompts/get", `{"name":"Grüße"}`, "=?base64?R3LDvMOfZQ==?="},
		{"x/own", `{}`, ""},
	} {
		ask(t, client, c.method, c.params)
		all := server.visits(c.method)
		v := all[len(all)-1]
		for name, want := range map[string]string{
			"Mcp-Method": c.method, "Mcp-Name": c.name, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Session-Id": "",
			"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
		} {
			if got := v.header(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", c.method, c.params, name, got, want)
			}
		}
		if said, _ := wire.String(wire.Lookup(v.message.Params(), "_meta", metaVersion)); said != v.header("Mcp-Protocol-Version") {
			t.Errorf("%s: _meta says version %q", c.method, said)
		}
	}
	server.expect("GET", 0)
	server.expect("initialize", 0)
}

func TestClosingTheStreamIsTheCancel(t *testing.T) {
	gone := make(chan struct{})
	server := modern(t, map[string]handler{"tools/call": func(w http.ResponseWriter, v visit) {
		openStream(w)
		<-v.request.Context().Done()
		close(gone)
	}})
	client := dial(t, server.URL, nil)
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	server.await("tools/call", 1)
	if !client.Cancel(call.request, wire.Notification("notifications/cancelled", nil)) {
		t.Error("the call could not be taken back")
	}
	within(t, "the end of the stream", gone)
	server.expect("notifications/cancelled", 0)
	client.Notify(wire.Notification("notifications/cancelled", []byte(`{"requestId":1}`)))
	client.Notify(wire.Notification("notifications/x", nil)) // others go their way
	if v := server.await("notifications/x", 1); v.header("Mcp-Method") != "notifications/x" || v.header("Mcp-Protocol-Version") != version {
		t.Errorf("the notification has the headers %v", v.request.Header)
	}
	server.expect("notifications/cancelled", 0)
}

func TestProgressAndAsidesComeOnTheRequestsOwnStream(t *testing.T) {
	server := modern(t, map[string]handler{"tools/call": sse(
		"id: 1\ndata: \n\n",
		`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$ID,"progress":9007199254740993}}`+"\n\n",
		"event: ping\ndata: nothing\n\n",
		`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hi"}}`+"\n\n",
		`data: {"jsonrpc":"2.0","id":7,"method":"roots/list"}`+"\n\n",
		`data: {"jsonrpc":"2.0","id":$ID,"result":{"n":1.0, "u":"\u2028"}}`+"\n\n",
	)})
	client := dial(t, server.URL, func(o *Options) {
		o.Handler.Notification = func(m wire.Message) { t.Errorf("%s came to the handler", m.Method()) }
		o.Handler.Request = func(m wire.Message, _ func(wire.Message)) { t.Errorf("%s came to the handler", m.Method()) }
	})
	var heard []string
	note := func(m wire.Message) { heard = append(heard, m.Method()+" "+string(m.Params())) }
	got := send(t, client, "tools/call", `{"name":"run"}`, func(r *Request) { r.Notify, r.Aside = note, note }).result()
	if got != `{"n":1.0, "u":"\u2028"}` {
		t.Errorf("the result arrived as %s", got)
	}
	if len(heard) != 2 || !strings.Contains(heard[0], "9007199254740993") || !strings.Contains(heard[1], `{"data":"hi"}`) {
		t.Errorf("heard %q", heard)
	}
	server.expect("answer", 0) // clients of this era send no responses
}

func TestAnErrorWithAnErrorStatusIsTheAnswer(t *testing.T) {
	for name, body := range map[string]string{
		"our id":  `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no such prompt","data":{"n":1.0}}}`,
		"null":    `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no such prompt","data":{"n":1.0}}}`,
		"no id":   `{"jsonrpc":"2.0","error":{"code":-32602,"message":"no such prompt","data":{"n":1.0}}}`,
		"any id":  `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32602,"message":"no such prompt","data":{"n":1.0}}}`,
		"another": `{"jsonrpc":"2.0","id":99,"error":{"code":-32602,"message":"no such prompt","data":{"n":1.0}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			server := modern(t, map[string]handler{"prompts/get": func(w http.ResponseWriter, v visit) {
				answerJSON(http.StatusBadRequest, strings.ReplaceAll(body, "$ID", string(v.message.ID())))(w, v)
			}})
			m, err := send(t, dial(t, server.URL, nil), "prompts/get", `{"name":"x"}`, nil).wait()
			if want := `{"code":-32602,"message":"no such prompt","data":{"n":1.0}}`; err != nil || string(m.Err()) != want {
				t.Errorf("got %s, %v; want %s", m.Err(), err, want)
			}
		})
	}
}

// As the official suite has it: the first request of all is refused with a
// revision that the server then accepts.
func TestARevisionThatIsRefusedAndOfferedIsTriedOnceMoreForWhatReads(t *testing.T) {
	fussy := func(always bool, then handler) handler {
		refused := false
		return func(w http.ResponseWriter, v visit) {
			if refused && !always {
				then(w, v)
				return
			}
			refused = true
			answerJSON(http.StatusBadRequest, `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`)(w, v)
		}
	}
	server := modern(t, map[string]handler{"prompts/list": fussy(true, nil), "tools/call": fussy(false, result("{}"))})
	server.on("server/discover", fussy(false, server.handlers["server/discover"]))
	server.on("tools/list", fussy(false, server.handlers["tools/list"]))
	client := dial(t, server.URL, nil)
	ask(t, client, "tools/list", `{}`)
	server.expect("server/discover", 2)
	server.expect("tools/list", 2)
	for method, times := range map[string]int{"prompts/list": 2, "tools/call": 1} {
		if m, err := send(t, client, method, `{"name":"run"}`, nil).wait(); err != nil || string(wire.Get(m.Err(), "code")) != "-32022" {
			t.Errorf("%s: %s, %v", method, m.Raw(), err)
		}
		server.expect(method, times)
	}
}

func TestASubscriptionLivesOnItsOwnStreamAndIsTakenUpAgain(t *testing.T) {
	cut := make(chan struct{}, 1)
	server := modern(t, map[string]handler{"subscriptions/listen": func(w http.ResponseWriter, v visit) {
		out := openStream(w)
		meta := `"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(v.message.ID()) + `}`
		out.send(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + meta + `,"notifications":{"toolsListChanged":true}}}` + "\n\n")
		out.send(`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"n":1.0}}` + "\n\n")
		select {
		case <-cut:
		case <-v.request.Context().Done():
		}
	}})
	client := dial(t, server.URL, nil)
	heard := make(chan string, 10)
	l := &Listen{Filter: []byte(`{"toolsListChanged":true}`), Header: authorization("Bearer listener"),
		Notify: func(m wire.Message) { heard <- m.Method() + string(m.Params()) }, Ended: func() { t.Error("the subscription ended") }}
	if accepted, err := client.Listen(t.Context(), l); err != nil || string(accepted) != `{"toolsListChanged":true}` {
		t.Fatalf("accepted %s, %v", accepted, err)
	}
	if got := <-heard; got != `notifications/tools/list_changed{"n":1.0}` {
		t.Errorf("heard %s", got)
	}
	if client.IdleFor() != 0 {
		t.Error("a client that listens is called idle")
	}
	cut <- struct{}{}
	if v := server.await("subscriptions/listen", 2); v.header("Authorization") != "Bearer listener" {
		t.Errorf("the second one has %q", v.header("Authorization"))
	}
	doing(t, "the news of the second stream", func() { <-heard; <-heard }) // its own, and the word that something may have been missed
	client.Unlisten(l)
}

func TestAClientIsIdleOnlyWhileNothingIsAsked(t *testing.T) {
	release := make(chan struct{})
	server := modern(t, map[string]handler{"tools/call": func(w http.ResponseWriter, v visit) {
		<-release
		result("{}")(w, v)
	}})
	client := dial(t, server.URL, nil)
	idle := func(want bool, when string) {
		t.Helper()
		yieldABit()
		if got := client.IdleFor() > 0; got != want {
			t.Errorf("idle is %v %s", got, when)
		}
	}
	idle(true, "before anything")
	kept, also := client.Keep(), client.Keep()
	idle(false, "while kept")
	kept()
	kept()
	idle(false, "while somebody else keeps it")
	also()
	idle(true, "when released")
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	server.await("tools/call", 1)
	idle(false, "while a call is open")
	close(release)
	call.result()
	idle(true, "behind the answer")
	if since := client.IdleFor(); since > time.Minute {
		t.Errorf("idle for %v", since)
	}
}
