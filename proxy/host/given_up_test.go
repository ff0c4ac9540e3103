package host

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// silentChild is a server that reads, and never says a word.
const silentChild = "silent"

func childCore(t *testing.T, mode string) *proxy.Proxy {
	t.Helper()
	store := openStore(t, t.TempDir())
	core := proxy.New(proxy.Options{
		Tasks: proxy.NewTasks(store, zerolog.Nop()), Log: zerolog.Nop(), Policies: someTasks,
		Upstream: upstream.Options{Command: upstream.Command{Args: []string{os.Args[0]}, Env: append(os.Environ(), childMode+"="+mode)}, Log: zerolog.Nop()},
	})
	t.Cleanup(func() {
		core.Close(context.Background())
		_ = store.Close()
	})
	return core
}

// signal closes seen at the first write that has a text in it.
type signal struct {
	bytes.Buffer
	text string
	seen chan struct{}
}

func newSignal(text string) *signal {
	s := &signal{text: text, seen: make(chan struct{})}
	if text == "" {
		close(s.seen)
	}
	return s
}

func (s *signal) Write(p []byte) (int, error) {
	if s.text != "" && bytes.Contains(p, []byte(s.text)) {
		s.text = ""
		close(s.seen)
	}
	return s.Buffer.Write(p)
}

const (
	opens   = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}` + "\n"
	modern  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	callsIt = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hold",` + modern + `}}` + "\n"
	holds   = opens + `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hold","_meta":{"progressToken":1}}}` + "\n"
)

func TestWhatIsGivenUpSaysWhetherTheServerHasItAndWhoEnded(t *testing.T) {
	for name, test := range map[string]struct {
		child, says, until string
		stays              bool // the host keeps its stream open
		outcome, why       string
	}{
		"a call, never sent":              {silentChild, callsIt, "", false, "not_dispatched", hostLeft},
		"a call, never sent, and a stop":  {silentChild, callsIt, "", true, "not_dispatched", toldToEnd},
		"a list, never sent":              {silentChild, strings.Replace(callsIt, "tools/call", "tools/list", 1), "", false, "not_dispatched", hostLeft},
		"a call before initialize is":     {silentChild, holds, "", false, "not_dispatched", hostLeft},
		"a call that the server works on": {tasksChild, holds, "notifications/progress", false, "unknown", hostLeft},
	} {
		t.Run(name, func(t *testing.T) {
			out := newSignal(test.until)
			answer := answerTo7(t, out, childCore(t, test.child), test.says, test.stays)
			outcome, _ := wire.String(wire.Lookup(answer.Err(), "data", "outcome"))
			text, _ := wire.String(wire.Get(answer.Err(), "message"))
			if outcome != test.outcome || !strings.Contains(text, test.why) {
				t.Errorf("the host got %s", answer.Raw())
			}
		})
	}
}

// answerTo7 is what the request 7 of a host is answered with that ends soon after.
func answerTo7(t *testing.T, out *signal, core *proxy.Proxy, says string, stays bool) wire.Message {
	t.Helper()
	in, host := io.Pipe()
	edge := NewStdio(in, out, Options{Proxy: core, Version: "test", Log: zerolog.Nop()})
	served := make(chan error, 1)
	go func() { served <- edge.Serve() }()
	for _, text := range []string{says, `{"jsonrpc":"2.0","method":"notifications/x"}` + "\n"} { // the second is read when the first is served
		if _, err := io.WriteString(host, text); err != nil {
			t.Fatal(err)
		}
	}
	soon(t, "the server", func() { <-out.seen })
	if !stays {
		host.Close()
		soon(t, "Serve", func() { <-served })
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	soon(t, "the end", func() { edge.Finish(gone); edge.Close(t.Context()) })
	host.Close()
	for line := range bytes.Lines(out.Bytes()) {
		if m, err := wire.Parse(bytes.TrimSpace(line)); err == nil && string(m.ID()) == "7" {
			return m
		}
	}
	t.Fatalf("no answer in %s", out)
	return wire.Message{}
}
