package upstream

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// lose makes the server forget the session as f says it.
func lose(server *web, f handler) {
	forget := func(then handler) handler {
		return func(w http.ResponseWriter, v visit) {
			if v.header("Mcp-Session-Id") == "s1" {
				f(w, v)
				return
			}
			then(w, v)
		}
	}
	for _, name := range []string{"tools/list", "tools/call", "prompts/list"} {
		server.on(name, forget(result(`{"again":true}`)))
	}
}

func TestASessionThatIsLostIsOpenedAgainOnceAndCallsAreNotRepeated(t *testing.T) {
	rpc := func(status int, text string) handler {
		return answerJSON(status, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"`+text+`"},"id":null}`)
	}
	for name, refusal := range map[string]handler{
		"404":                    plain(404, "text/plain", "session not found"),
		"404 of JSON-RPC":        answerJSON(404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`),
		"404 under our id":       failure(404, -32001, "Session not found"),
		"400 not initialized":    rpc(400, "Bad Request: Server not initialized"),
		"400 no valid session":   rpc(400, "Bad Request: No valid session ID provided"),
		"503 session expired":    plain(503, "text/plain", "Session expired"),
		"400 with any other id":  answerJSON(400, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}`),
		"404 of a page of a CDN": plain(404, "text/html", "<h1>Not Found</h1>"),
	} {
		t.Run(name, func(t *testing.T) {
			var lost atomic.Int64
			server := legacy(t, map[string]handler{"tools/list": result("{}")})
			client := dial(t, server.URL, func(o *Options) {
				o.Hello.Era = Initialize
				o.Handler.Lost = func() { lost.Add(1) }
			})
			ask(t, client, "tools/list", `{}`)
			lose(server, refusal)
			var reads, calls []asking
			for range 5 {
				reads = append(reads, send(t, client, "prompts/list", `{}`, nil))
				calls = append(calls, send(t, client, "tools/call", `{"name":"run"}`, nil))
			}
			for i := range reads {
				if got := reads[i].result(); got != `{"again":true}` {
					t.Errorf("the repeated read was answered %s", got)
				}
				if m, err := calls[i].wait(); err != nil && (err.Reason != "upstream_session_lost" || err.Outcome != NotDispatched) {
					t.Errorf("the call ended with %s, %v", m.Raw(), err)
				}
			}
			server.expect("initialize", 2)
			if lost.Load() != 1 {
				t.Errorf("the handler was told %d times", lost.Load())
			}
			if n := len(server.visits("tools/call")); n > 5 { // each at most once, on whichever session
				t.Errorf("5 calls were sent %d times", n)
			}
			if n := len(server.visits("prompts/list")); n > 10 {
				t.Errorf("5 reads were sent %d times", n)
			}
		})
	}
}

func TestACallOnALostSessionSaysThatItWasNotTaken(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result("{}")})
	client := dial(t, server.URL, older)
	ask(t, client, "tools/list", `{}`)
	lose(server, plain(404, "text/plain", ""))
	err := send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_session_lost", NotDispatched)
	if !strings.Contains(err.Text, "can be repeated") {
		t.Errorf("the text does not say what to do: %s", err.Text)
	}
	ask(t, client, "tools/call", `{"name":"run"}`)
	server.expect("tools/call", 2)
}

func TestAServerThatLosesEverySessionIsNotAskedForEver(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": plain(404, "text/plain", "session not found")})
	send(t, dial(t, server.URL, older), "tools/list", `{}`, nil).wantError("upstream_session_lost", NotDispatched)
	server.expect("tools/list", 2)
}

func TestStreamsOfALostSessionGoOnToTheirEnd(t *testing.T) {
	release := make(chan struct{})
	server := legacy(t, map[string]handler{"tools/list": result("{}")})
	client := dial(t, server.URL, older)
	ask(t, client, "tools/list", `{}`)
	server.on("tools/call", func(w http.ResponseWriter, v visit) {
		out := openStream(w)
		<-release
		out.message(wire.Result(v.message.ID(), []byte(`{"late":true}`)))
	})
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	server.await("tools/call", 1)
	lose(server, plain(404, "text/plain", ""))
	ask(t, client, "prompts/list", `{}`)
	if client.IdleFor() != 0 {
		t.Error("a client with a call on its former session is called idle")
	}
	close(release)
	if got := call.result(); got != `{"late":true}` {
		t.Errorf("the result was %s", got)
	}
}

func TestCloseEndsTheStreamsOfALostSession(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result("{}"), "resources/read": hang})
	client := dial(t, server.URL, older)
	ask(t, client, "tools/list", `{}`)
	read := send(t, client, "resources/read", `{"uri":"x:"}`, nil)
	server.await("resources/read", 1)
	lose(server, plain(404, "text/plain", ""))
	ask(t, client, "prompts/list", `{}`)
	doing(t, "Close", func() { client.Close(t.Context()) })
	read.wantError("shutdown", Unknown)
}

func TestASessionThatTheServersOwnStreamShowsLostIsOpenedForTheNextRequest(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result("{}")})
	server.on("GET", func(w http.ResponseWriter, v visit) {
		if v.header("Mcp-Session-Id") == "s1" && len(server.visits("GET")) > 1 {
			plain(404, "text/plain", "")(w, v)
			return
		}
		openStream(w).send("retry: 1\n\n")
	})
	lost := make(chan struct{})
	client := dial(t, server.URL, func(o *Options) {
		o.Hello.Era = Initialize
		o.Handler.Lost = sync.OnceFunc(func() { close(lost) })
	})
	ask(t, client, "tools/list", `{}`)
	within(t, "the loss", lost)
	ask(t, client, "tools/list", `{}`)
	server.expect("initialize", 2)
}

func TestUnauthorizedAmidASessionIsNoLoop(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result("{}")})
	client := dial(t, server.URL, older)
	ask(t, client, "tools/list", `{}`)
	server.on("tools/list", plain(401, "text/plain", "token expired"))
	for range 3 {
		send(t, client, "tools/list", `{}`, nil).wantError("upstream_unauthorized", NotDispatched)
	}
	server.expect("tools/list", 4)
	server.expect("initialize", 1)
}

func TestRestEndsTheSessionAndTheNextRequestOpensAnother(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result("{}")})
	client := dial(t, server.URL, older)
	ask(t, client, "tools/list", `{}`)
	release := client.Keep()
	client.Rest()
	release()
	server.expect("DELETE", 0)
	client.Rest()
	server.await("DELETE", 1)
	ask(t, client, "tools/list", `{}`)
	server.expect("initialize", 2)
}

func TestAServerThatIsReplacedAmidASessionIsGreetedAnew(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result(`{"old":true}`)})
	client := dial(t, server.URL, older)
	ask(t, client, "tools/list", `{}`)
	newer := failure(http.StatusBadRequest, -32020, "Mcp-Method is missing")
	discover, notYet := result(`{"supportedVersions":["2026-07-28"],"capabilities":{}}`), server.handlers["server/discover"]
	lists := func(w http.ResponseWriter, v visit) {
		if v.header("Mcp-Method") == "" {
			newer(w, v)
			return
		}
		result(`{"new":true}`)(w, v)
	}
	initialize := server.handlers["initialize"]
	server.on("initialize", newer)
	server.on("server/discover", discover)
	server.on("tools/list", lists)
	if got := ask(t, client, "tools/list", `{}`); got != `{"new":true}` {
		t.Errorf("the newer server was asked for %s", got)
	}
	server.on("initialize", initialize)
	server.on("server/discover", notYet)
	server.on("tools/list", func(w http.ResponseWriter, v visit) {
		if v.header("Mcp-Session-Id") == "" {
			notYet(w, v)
			return
		}
		result(`{"old":true}`)(w, v)
	})
	if got := ask(t, client, "tools/list", `{}`); got != `{"old":true}` {
		t.Errorf("the older server was asked for %s", got)
	}
}

// A request can be given to a session in the moment in which that is lost.
func TestARequestThatComesTooLateForASessionGoesToTheNext(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result("{}")})
	client := dial(t, server.URL, older)
	if _, err := client.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	client.mu.Lock()
	former := client.conn
	client.mu.Unlock()
	lose(server, plain(404, "text/plain", ""))
	ask(t, client, "prompts/list", `{}`)
	late := asking{t, &Request{Message: wire.Request(0, "tools/call", []byte(`{"name":"run"}`))}, make(chan answer, 1)}
	late.request.Reply = func(m wire.Message, err *Error) { late.answer <- answer{m, err} }
	client.mu.Lock()
	former.enlistLocked(late.request)
	client.mu.Unlock()
	doing(t, "the sending", func() { former.write(late.request, former.outgoing(late.request)) })
	late.result()
	if got := server.expect("tools/call", 1)[0].header("Mcp-Session-Id"); got != "s2" {
		t.Errorf("the call went to session %q", got)
	}
	server.expect("initialize", 2)
}

func TestASessionThatIsLostWhileItIsBeingOpenedIsOpenedOnceMore(t *testing.T) {
	for range 10 { // the loss may come before the waiting requests leave, or after
		server := legacy(t, nil)
		lose(server, plain(404, "text/plain", ""))
		server.on("notifications/initialized", func(w http.ResponseWriter, v visit) {
			if v.header("Mcp-Session-Id") == "s1" {
				plain(404, "text/plain", "")(w, v)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		})
		client := dial(t, server.URL, older)
		lists := []asking{send(t, client, "tools/list", `{}`, nil), send(t, client, "prompts/list", `{}`, nil)}
		for _, list := range lists {
			list.result()
		}
		server.expect("initialize", 2)
	}
}
