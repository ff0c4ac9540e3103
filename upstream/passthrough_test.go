package upstream

import (
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func TestTasksThatAreLeftToTheHostPassAsTheyAre(t *testing.T) {
	const said = `{"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	for _, extension := range []bool{false, true} {
		s := newTaskServer(t, extension)
		say, notes := make(chan string), make(chan wire.Message, 10)
		s.on("GET", speaking(say))
		c := dial(t, s.URL, func(o *Options) {
			o.Passthrough, o.Hello.Capabilities = true, []byte(said)
			o.Handler.Notification = func(m wire.Message) { notes <- m }
		})
		f := begin(t, c, "may", func(r *Request) {
			r.Message = wire.Request(0, "tools/call", []byte(`{"name":"may","task":{"ttl":5}}`))
			r.Caller.Capabilities = []byte(said)
		})
		if got := f.asking.result(); got != s.made("t1") || len(f.made) > 0 {
			t.Errorf("extension %v: the task came as %s", extension, got)
		}
		params := s.await("tools/call", 1).message.Params()
		declared := wire.Lookup(params, "_meta", metaCapabilities)
		if !extension {
			declared = wire.Get(s.await("initialize", 1).message.Params(), "capabilities")
		}
		if string(declared) != said || string(wire.Get(params, "task")) != `{"ttl":5}` {
			t.Errorf("extension %v: the server got %s, declared were %s", extension, params, declared)
		}
		s.expect("tasks/get", 0)
		s.expect("tasks/result", 0)
		if extension {
			continue
		}
		s.expect("tools/list", 0)
		say <- `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1","status":"working"}}`
		doing(t, "the notification", func() { <-notes })
		c.Declare([]byte(`{"tasks":{"cancel":{}}}`))
		ask(t, c, "tools/list", "{}")
		s.expectDeclared("in the end", said, `{"tasks":{"cancel":{},"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	}
}
