//go:build unix

package upstream

import (
	"bytes"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func TestAGuessedQuestionOfACallThatEndsGoesToAnother(t *testing.T) {
	for name, ends := range map[string]func(p puppet, newer asking){
		"answered": func(p puppet, newer asking) { p.ends(newer) },
		"cancelled": func(p puppet, newer asking) {
			p.Cancel(newer.request, wire.Notification("notifications/cancelled", nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, older, newer := newPuppet(t, nil), newTaker(t), newTaker(t)
			send(t, p.Client, "tools/call", `{}`, older.takes)
			second := send(t, p.Client, "tools/call", `{}`, newer.takes)
			ask(t, p.Client, "x/heard", `{}`)
			p.says(elicitation(`"q1"`, ""))
			first := newer.next()
			ends(p, second)
			moved := older.next()
			doing(t, "the withdrawal", func() { <-newer.withdrawn })
			first.answer(wire.Result([]byte("1"), []byte(`{"action":"decline"}`))) // as its call has ended
			moved.accept()
			if got := string(p.answer().Raw()); got != `{"jsonrpc":"2.0","id":"q1","result":{"action":"accept"}}` {
				t.Errorf("the server got %s", got)
			}
		})
	}
}

func TestAQuestionGoesToACallWhoseCallerTakesIt(t *testing.T) {
	p, older, newer := newPuppet(t, func(o *Options) {
		o.Handler.Takes = func(c Caller, _ wire.Message) bool { return bytes.Contains(c.Capabilities, []byte("elicitation")) }
	}), newTaker(t), newTaker(t)
	send(t, p.Client, "tools/call", `{}`, func(r *Request) {
		older.takes(r)
		r.Caller.Capabilities = []byte(`{"elicitation":{}}`)
	})
	send(t, p.Client, "tools/call", `{}`, newer.takes)
	ask(t, p.Client, "x/heard", `{}`)
	p.says(elicitation(`"q1"`, ""))
	older.next().accept()
	p.answer()
	if len(newer.questions) > 0 {
		t.Error("one that cannot be asked was asked")
	}
}
