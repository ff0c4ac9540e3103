package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire/pipenet"
)

// babbler is a real HTTP server on pipes. It greets, in its era, and answers
// everything else with the same bytes, whatever they are.
type babbler struct {
	stateless bool
	status    int
	kind      string
	body      []byte
	*pipenet.Listener
}

func (s *babbler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, _ := wire.Parse(body)
	const capabilities = `"capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	switch {
	case m.Method() == "initialize" && !s.stateless:
		w.Header().Set("Mcp-Session-Id", "s")
		result(`{"protocolVersion":"2025-11-25",`+capabilities+`}`)(w, visit{message: m})
	case m.Method() == "server/discover" && s.stateless:
		result(`{"resultType":"complete","supportedVersions":["2026-07-28"],`+capabilities+`}`)(w, visit{message: m})
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method() != "tools/call":
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", s.kind)
		w.WriteHeader(s.status)
		_, _ = w.Write(bytes.ReplaceAll(s.body, []byte("$A"), m.ID()))
	}
}

// FuzzHTTP: whatever a server answers a call with, the call has one end, and
// the session with it.
func FuzzHTTP(f *testing.F) {
	for _, text := range serverTells {
		f.Add(false, 200, true, []byte(text))
		f.Add(true, 404, false, []byte(text))
		f.Add(true, 200, true, []byte("\xef\xbb\xbfid: 1\nretry: 1\ndata: "+strings.ReplaceAll(text, "\n", "\ndata: ")+"\n\n"))
	}
	f.Fuzz(func(t *testing.T, stateless bool, status int, stream bool, body []byte) {
		s := &babbler{stateless: stateless, status: 200 + max(status, 0)%400, kind: "application/json", body: body, Listener: pipenet.New()}
		if stream {
			s.kind = "text/event-stream"
		}
		web := &http.Server{Handler: s}
		go func() { _ = web.Serve(s) }() // ends with Close
		defer web.Close()
		doing(t, "a call of the server", func() { s.babble(t) })
	})
}

// serverTells are what servers say in answer to a call, $A.
var serverTells = []string{
	`{"jsonrpc":"2.0","id":$A,"result":{}}`,
	`[{"jsonrpc":"2.0","id":"$A","result":{}},[[[{"jsonrpc":"2.0","id":$A,"result":{}}]]]]`,
	`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}` + "\n\n" + `{"jsonrpc":"2.0","id":$A,"error":{"code":-32000,"message":"Server not initialized"}}`,
	`{"jsonrpc":"2.0","id":$A,"result":{"task":{"taskId":"t","status":"working","ttl":1,"pollInterval":1}}}`,
	`{"jsonrpc":"2.0","id":$A,"result":{"resultType":"task","taskId":"t","status":"input_required","ttlMs":null}}`,
	"\x00\xff<html>",
	"",
}

func (s *babbler) babble(t *testing.T) {
	era := Initialize
	if s.stateless {
		era = Stateless
	}
	c := New(Options{
		URL: "http://127.0.0.1/mcp", Dial: s.Dial, Hello: Hello{Era: era, Only: true, Info: []byte(`{"name":"test"}`)},
		Log: zerolog.Nop(), MessageBytes: 1 << 16, CloseGrace: 50 * time.Millisecond,
	})
	var replies atomic.Int32
	answered := make(chan struct{}, 10)
	c.Send(&Request{
		Message: wire.Request(0, "tools/call", []byte(`{"name":"run"}`)), Notify: func(wire.Message) {}, Task: &TaskWish{},
		Reply: func(wire.Message, *Error) { replies.Add(1); answered <- struct{}{} },
		Ask: func(_ wire.Message, answer func(wire.Message)) func() {
			answer(wire.Result([]byte("0"), []byte(`{}`)))
			return nil
		},
	})
	select {
	case <-answered:
	case <-time.After(100 * time.Millisecond): // it may have been told to come again
	}
	c.Close(context.Background())
	lasts := bytes.Contains(s.body, []byte("task")) || bytes.Contains(s.body, []byte(`\u`)) // and is for a later process to follow
	if n := replies.Load(); n > 1 || n == 0 && !lasts {
		t.Errorf("%d answers", n)
	}
}
