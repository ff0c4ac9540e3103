//go:build unix

package upstream

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

var _ = addChild("parrot", childParrot)

// childParrot is a server that writes the bytes that it is given with x/raw. It
// leaves tools/call to them, and refuses all else.
func childParrot() {
	stateless := slices.Contains(os.Args, "stateless")
	const capabilities = `"capabilities":{"tools":{},"logging":{},"tasks":{"requests":{"tools":{"call":{}}}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	lines := wire.NewLineReader(os.Stdin, 1<<20)
	for line, err := lines.Next(); err == nil; line, err = lines.Next() {
		switch m, _ := wire.Parse(line); {
		case !m.IsRequest() || m.Method() == "tools/call":
		case m.Method() == "initialize" && !stateless:
			puppetSays(wire.Result(m.ID(), []byte(`{"protocolVersion":"2025-11-25",`+capabilities+`}`)))
		case m.Method() == "server/discover" && stateless:
			puppetSays(wire.Result(m.ID(), []byte(`{"supportedVersions":["2026-07-28"],`+capabilities+`}`)))
		case m.Method() == "x/raw":
			text, _ := wire.String(wire.Get(m.Params(), "raw"))
			raw, _ := base64.StdEncoding.DecodeString(text)
			fmt.Printf("%s\n", raw)
			puppetSays(wire.Result(m.ID(), []byte("{}")))
		default:
			puppetSays(wire.Failure(m.ID(), wire.Errorf(wire.CodeMethodNotFound, "Method not found")))
		}
	}
}

// serverSays are what servers say while two calls, $A and $B, are open.
var serverSays = []string{
	`{"jsonrpc":"2.0","id":$A,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":$A,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"$B","error":{}}`,
	`[{"jsonrpc":"2.0","id":$A,"result":{}},[[[{"jsonrpc":"2.0","id":$B,"result":{}}]]]]`,
	`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":{"progressToken":$A}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":$A,"result":{"task":{"taskId":"t","status":"working","ttl":1,"pollInterval":1}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t","status":"completed"}}`,
	`{"jsonrpc":"2.0","id":$A,"result":{"resultType":"task","taskId":"t","status":"input_required","ttlMs":null}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"t","status":"failed"}}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$B,"progress":1e999}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
	`{"jsonrpc":"2.0","id":$A.0,"result":null,"error":null}` + "\r\n\xef\xbb\xbf{}\n\x00\xff\n" + `{"jsonrpc":"2.0","id":-$B,"res`,
}

// FuzzProcess: whatever a server says while calls are open, the session goes
// on, and every call has one answer at most.
func FuzzProcess(f *testing.F) {
	for _, text := range serverSays {
		f.Add(false, []byte(text))
		f.Add(true, []byte(text))
	}
	clients := map[bool]*Client{false: newParrot(f, Initialize), true: newParrot(f, Stateless)}
	f.Fuzz(func(t *testing.T, stateless bool, said []byte) {
		doing(t, "a turn of the server", func() { parrotSays(t, clients[stateless], said) })
	})
}

func parrotSays(t *testing.T, c *Client, said []byte) {
	a, b := openCall(c, true), openCall(c, false)
	text := strings.ReplaceAll(string(said), "$A", c.idText(a.request))
	text = strings.ReplaceAll(text, "$B", c.idText(b.request))
	send(t, c, "x/raw", `{"raw":"`+base64.StdEncoding.EncodeToString([]byte(text))+`"}`, nil).wait()
	for _, call := range []*openedCall{a, b} {
		taken := c.Cancel(call.request, wire.Notification("notifications/cancelled", nil))
		if n := call.replies.Load(); n > 1 || taken && n > 0 || !taken && n == 0 {
			t.Errorf("%d answers, open until now: %v, after:\n%s", n, taken, text)
		}
	}
}

func newParrot(f *testing.F, era Era) *Client {
	c := New(Options{
		Command: childCommand("parrot", era.String()), Hello: Hello{Era: era, Only: true, Info: []byte(`{"name":"test"}`)},
		Log: zerolog.Nop(), MessageBytes: 1 << 16, Handler: Handler{Notification: func(wire.Message) {}},
	})
	f.Cleanup(func() { c.Close(f.Context()) })
	return c
}

type openedCall struct {
	request *Request
	replies atomic.Int32
}

// openCall is answered its questions at once, if it takes any.
func openCall(c *Client, asks bool) *openedCall {
	call := &openedCall{}
	call.request = &Request{Message: wire.Request(0, "tools/call", []byte(`{"name":"run"}`)), Notify: func(wire.Message) {}, Task: &TaskWish{}}
	call.request.Reply = func(wire.Message, *Error) { call.replies.Add(1) }
	if asks {
		call.request.Ask = func(m wire.Message, answer func(wire.Message)) func() {
			answer(wire.Result([]byte("0"), []byte(`{"action":"decline"}`)))
			return nil
		}
	}
	c.Send(call.request)
	return call
}

// idText is the id under which the server knows the request, once it does.
func (c *Client) idText(r *Request) string {
	_, _ = c.Connect(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(r.id)
}
