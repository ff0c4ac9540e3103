package upstream

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// at makes a request one of a stateless-era host with a log level.
func at(level string) func(*Request) {
	return func(r *Request) { r.Caller = Caller{Stateless: true, LogLevel: wire.Quote(level)} }
}

// logger is a server of the initialize era that logs.
func logger(t *testing.T, more map[string]handler) *web {
	server := legacy(t, more)
	server.on("initialize", func(w http.ResponseWriter, v visit) {
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", len(server.visits("initialize"))))
		result(`{"protocolVersion":"2025-11-25","capabilities":{"logging":{},"tools":{}}}`)(w, v)
	})
	return server
}

// levels are those that were set, in order.
func (s *web) levels() (all []string) {
	for _, v := range s.visits("logging/setLevel") {
		level, _ := wire.String(wire.Get(v.message.Params(), "level"))
		all = append(all, level)
	}
	return all
}

func (s *web) expectLevels(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.levels()); diff != "" {
		s.t.Errorf("levels that were set (-want +got):\n%s", diff)
	}
}

// gate holds visitors up, one by one.
type gate chan struct{}

func (g gate) then(h handler) handler {
	return func(w http.ResponseWriter, v visit) {
		select {
		case <-g:
			h(w, v)
		case <-v.request.Context().Done():
		}
	}
}

func (g gate) pass(t *testing.T) {
	t.Helper()
	select {
	case g <- struct{}{}:
	case <-time.After(patience):
		t.Fatal("nobody came to the gate")
	}
}

func TestOverHTTPARequestWaitsUntilItsLevelIsSet(t *testing.T) {
	set := make(gate)
	server := logger(t, map[string]handler{"logging/setLevel": set.then(result("{}")), "tools/call": result("{}"), "x/own": result("{}")})
	c := dial(t, server.URL, older)
	first := send(t, c, "tools/call", `{"name":"run"}`, at("info"))
	server.await("logging/setLevel", 1)
	second := send(t, c, "tools/call", `{"name":"run"}`, at("info"))
	third := send(t, c, "tools/call", `{"name":"run"}`, at("debug")) // wants more than is on its way
	ask(t, c, "x/own", "{}")                                         // waits for nothing
	server.expect("tools/call", 0)
	set.pass(t)
	first.result()
	second.result()
	server.expect("tools/call", 2)
	set.pass(t)
	third.result()
	server.expectLevels("info", "debug")
}

func TestTheMostVerboseOpenRequestCounts(t *testing.T) {
	held := make(gate)
	server := logger(t, map[string]handler{
		"logging/setLevel": result("{}"), "tools/list": result("{}"), "prompts/get": result("{}"), "tools/call": held.then(result("{}")),
	})
	c := dial(t, server.URL, older)
	call := send(t, c, "tools/call", `{"name":"run"}`, at("info"))
	server.await("tools/call", 1)
	list := func(change func(*Request)) { send(t, c, "tools/list", "{}", change).result() }
	list(at("error")) // the call still wants more
	list(nil)
	list(func(r *Request) { r.Caller.Stateless = true })
	list(at("no level"))
	list(func(r *Request) { r.Caller.LogLevel = []byte(`"debug"`) }) // of a host that sets levels itself
	server.expectLevels("info")
	held.pass(t)
	call.result()
	list(nil)
	server.expectLevels("info")
	list(at("error"))
	list(at("error"))
	list(at("notice"))
	server.expectLevels("info", "error", "notice")
}

func TestALevelIsSetOnlyWhereThereIsOne(t *testing.T) {
	for name, server := range map[string]*web{
		"a server that does not log": legacy(t, map[string]handler{"tools/list": result("{}")}),
		"a server of the same era":   modern(t, nil),
	} {
		t.Run(name, func(t *testing.T) {
			send(t, dial(t, server.URL, nil), "tools/list", "{}", at("info")).result()
			server.expectLevels()
		})
	}
}

func TestARequestGoesOutThoughItsLevelCannotBeSet(t *testing.T) {
	for name, c := range map[string]struct {
		set  handler
		want []string // levels after another request
	}{
		"refused":              {failure(http.StatusOK, wire.CodeInternal, "no"), []string{"info"}},
		"answered with a page": {plain(http.StatusBadGateway, "text/html", "<h1>oops</h1>"), []string{"info", "info"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := logger(t, map[string]handler{"logging/setLevel": c.set, "tools/list": result("{}")})
			client := dial(t, server.URL, older)
			for range 2 {
				send(t, client, "tools/list", "{}", at("info")).result()
			}
			server.expectLevels(c.want...)
		})
	}
}

func TestARequestDoesNotWaitForEverForItsLevel(t *testing.T) {
	server := logger(t, map[string]handler{"logging/setLevel": hang, "tools/list": result("{}")})
	c, began := dial(t, server.URL, older), time.Now()
	send(t, c, "tools/list", "{}", func(r *Request) {
		at("info")(r)
		r.since = time.Now().Add(50*time.Millisecond - levelLimit) // it has waited for another one
	}).result()
	send(t, c, "tools/list", "{}", at("info")).result()
	server.expectLevels("info")
	if took := time.Since(began); took > levelLimit/2 {
		t.Errorf("it took %v", took)
	}
}

func TestARequestThatWaitsForItsLevelCanBeTakenBack(t *testing.T) {
	set := make(gate)
	server := logger(t, map[string]handler{"logging/setLevel": set.then(result("{}")), "tools/list": result("{}")})
	c := dial(t, server.URL, older)
	call := send(t, c, "tools/call", `{"name":"run"}`, at("info"))
	server.await("logging/setLevel", 1)
	if !c.Cancel(call.request, wire.Notification("notifications/cancelled", nil)) {
		t.Error("it was not taken back")
	}
	list := send(t, c, "tools/list", "{}", at("info"))
	set.pass(t)
	list.result()
	c.Close(t.Context())
	server.expect("tools/call", 0)
	server.expect("notifications/cancelled", 0)
}

func TestARequestThatWaitedForItsLevelWasNotDispatched(t *testing.T) {
	for name, end := range map[string]func(*Client, *web){
		"closed":  func(c *Client, _ *web) { c.Close(t.Context()) },
		"stopped": func(c *Client, _ *web) { c.conn.link.stop(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			server := logger(t, map[string]handler{"logging/setLevel": hang})
			c := dial(t, server.URL, older)
			call := send(t, c, "tools/call", `{"name":"run"}`, at("info"))
			server.await("logging/setLevel", 1)
			doing(t, "the end", func() { end(c, server) })
			if m, err := call.wait(); err == nil || err.Outcome != NotDispatched {
				t.Errorf("the call came to %s, %v", m.Raw(), err)
			}
			server.expect("tools/call", 0)
		})
	}
}

func TestARequestThatWaitedForItsLevelWhenTheSessionEndedWasNotDispatched(t *testing.T) {
	server := newOldSSE(t, "/messages", nil)
	server.on("initialize", server.result(`{"protocolVersion":"2024-11-05","capabilities":{"logging":{}}}`))
	server.on("logging/setLevel", plain(http.StatusAccepted, "text/plain", "later"))
	c := dial(t, server.URL+"/sse", older)
	call := send(t, c, "tools/call", `{"name":"run"}`, at("info"))
	server.await("logging/setLevel", 1)
	server.end <- struct{}{}
	call.wantError("upstream_stream_cut", NotDispatched)
	server.expect("tools/call", 0)
}

func TestALevelIsSetAnewOnTheSessionThatFollowsALostOne(t *testing.T) {
	var once sync.Once
	server := logger(t, map[string]handler{"tools/call": result("{}")})
	server.on("logging/setLevel", func(w http.ResponseWriter, v visit) {
		answer := result("{}")
		once.Do(func() { answer = failure(http.StatusNotFound, -32001, "Session not found") })
		answer(w, v)
	})
	c := dial(t, server.URL, older)
	send(t, c, "tools/call", `{"name":"run"}`, at("info")).result()
	server.expectLevels("info", "info")
	if v := server.expect("tools/call", 1)[0]; v.header("Mcp-Session-Id") != "s2" {
		t.Errorf("the call went out on session %q", v.header("Mcp-Session-Id"))
	}
}
