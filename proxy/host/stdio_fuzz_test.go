package host

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// hostSays are conversations of both eras, good and bad.
var hostSays = []string{
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"h","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","task":{"ttl":-1}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run","arguments":{},"task":{"ttl":1e308},"_meta":{"progressToken":1}}}
{"jsonrpc":"2.0","id":4,"method":"tasks/list","params":{"cursor":"x"}}
{"jsonrpc":"2.0","id":5,"method":"tasks/result","params":{"taskId":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}}
{"jsonrpc":"2.0","id":1,"result":{}}`,
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}
[{"jsonrpc":"2.0","id":2,"method":"ping"},[{"jsonrpc":"2.0","id":3,"method":"ping"}],7,{}]
[]
[[[[[[]]]]]]`,
	`{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"task","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}
{"jsonrpc":"2.0","id":"c","method":"tasks/get","params":{"taskId":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}
{"jsonrpc":"2.0","id":"d","method":"subscriptions/listen","params":{"notifications":{"taskIds":["x",7]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}
{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"run","requestState":"mcp-taskproxy.000000000000.x.y","inputResponses":[],"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
	"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}\r\n{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"\\ud800\"}\n\xff\x00\n\xef\xbb\xbf{}\n{\"id\":null,\"method\":\"x\"}\n{\"id\":{},\"jsonrpc\":\"1.0\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n{\"jsonrpc\":\"2.0\",\"me",
}

// FuzzStdio: whatever a host says, the edge neither panics nor hangs, says
// nothing but messages, and answers every request once. One that the host has
// cancelled it may leave unanswered.
func FuzzStdio(f *testing.F) {
	for _, text := range hostSays {
		f.Add(false, []byte(text))
		f.Add(true, []byte(text))
	}
	cores := map[bool]*proxy.Proxy{false: newQuickCore(f, false), true: newQuickCore(f, true)}
	f.Fuzz(func(t *testing.T, stateless bool, input []byte) {
		out := playStdio(t, cores[stateless], input)
		wanted, allowed := requestsIn(input)
		answers := answersIn(t, out)
		for id, n := range answers {
			if id != "null" && n > allowed[id] {
				t.Errorf("%d answers to %d requests %s", n, allowed[id], id)
			}
		}
		cancels := bytes.Contains(input, []byte("cancelled")) || bytes.Contains(input, []byte(`\u`))
		for id, n := range wanted {
			if id != "null" && n > answers[id] && !cancels {
				t.Errorf("%d requests %s have %d answers, in:\n%s", n, id, answers[id], out)
			}
		}
	})
}

// playStdio is the life of an edge whose host says input and goes.
func playStdio(t *testing.T, core *proxy.Proxy, input []byte) (out []byte) {
	t.Helper()
	written := &bytes.Buffer{}
	edge := NewStdio(bytes.NewReader(input), written, Options{Proxy: core, Version: "test", Log: zerolog.Nop(), MessageBytes: 1 << 16})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	soon(t, "the edge", func() {
		if err := edge.Serve(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		edge.Finish(ctx)
		edge.Close(context.Background())
		core.Hangup(context.Background(), edge.stateless.client)
		if session := edge.current(); session != nil {
			core.Hangup(context.Background(), session.client)
		}
	})
	return written.Bytes()
}

// requestsIn counts, by id, the requests that want an answer, and those that may
// get one: what stands in an array, if it is a batch.
func requestsIn(input []byte) (wanted, allowed map[string]int) {
	wanted, allowed = map[string]int{}, map[string]int{}
	for line := range bytes.SplitSeq(input, []byte{'\n'}) {
		if line = bytes.TrimSuffix(line, []byte{'\r'}); len(line) <= 1<<16 {
			countRequest(line, wanted)
			countAll(line, allowed)
		}
	}
	return wanted, allowed
}

// countRequest also counts what is refused under its id.
func countRequest(line []byte, requests map[string]int) {
	if m, err := wire.Parse(line); m.ID() != nil && (err != nil || m.IsRequest()) {
		requests[string(m.ID())]++
	}
}

func countAll(line []byte, requests map[string]int) {
	countRequest(line, requests)
	if wire.Valid(line) {
		for _, e := range wire.Elements(line) {
			countAll(e, requests)
		}
	}
}

// answersIn counts the answers by their ids. An error about what has no id has
// none either.
func answersIn(t *testing.T, out []byte) map[string]int {
	t.Helper()
	answers := map[string]int{}
	for line := range strings.Lines(string(out)) {
		text := []byte(strings.TrimSuffix(line, "\n"))
		m, err := wire.Parse(text)
		unnamed := errors.Is(err, wire.ErrNotMessage) && wire.IsObject(wire.Get(text, "error")) && wire.Get(text, "id") == nil
		if err != nil && !unnamed || !strings.HasSuffix(line, "\n") {
			t.Fatalf("on stdout: %q (%v)", line, err)
		}
		if m.IsResponse() {
			answers[string(m.ID())]++
		}
	}
	return answers
}
