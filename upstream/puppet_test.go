//go:build unix

package upstream

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

var _ = addChild("puppet", childPuppet)

// childPuppet is a server, of the initialize era unless it is told otherwise,
// that says what x/say has it say and tells with x/heard what it has heard. It
// leaves tools/call, prompts/get and tasks/* open, and shows the answers to its own
// requests as notifications. With "tasks" it has those of its era.
func childPuppet() {
	var heard [][]byte
	stateless, capabilities := slices.Contains(os.Args, "stateless"), `"logging":{}`
	if slices.Contains(os.Args, "tasks") {
		capabilities += `,"tasks":{"requests":{"tools":{"call":{}}}},"extensions":{"io.modelcontextprotocol/tasks":{}}`
	}
	lines := wire.NewLineReader(os.Stdin, 1<<20)
	for line, err := lines.Next(); err == nil; line, err = lines.Next() {
		m, _ := wire.Parse(line)
		heard = append(heard, line)
		if m.IsResponse() {
			puppetSays(wire.Notification("x/answer", line))
			continue
		}
		switch m.Method() {
		case "initialize":
			puppetSays(wire.Result(m.ID(), []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},`+capabilities+`}}`)))
		case "server/discover":
			if stateless {
				puppetSays(wire.Result(m.ID(), []byte(`{"supportedVersions":["2026-07-28"],"capabilities":{`+capabilities+`}}`)))
				continue
			}
			puppetSays(wire.Failure(m.ID(), wire.Errorf(wire.CodeMethodNotFound, "Method not found")))
		case "tools/list":
			if strings.Contains(capabilities, "tasks") {
				puppetSays(wire.Result(m.ID(), []byte(`{"tools":[`+taskTools+`]}`)))
			}
		case "logging/setLevel", "x/say":
			for _, line := range wire.Elements(wire.Get(m.Params(), "lines")) {
				fmt.Println(string(line))
			}
			puppetSays(wire.Result(m.ID(), []byte("{}")))
		case "x/heard":
			puppetSays(wire.Result(m.ID(), wire.Array(heard)))
		}
	}
}

func puppetSays(m wire.Message) { fmt.Println(string(m.Raw())) }

// puppet is the child and a client of it.
type puppet struct {
	*Client
	t     *testing.T
	notes chan wire.Message // from the child, unless the handler is changed
	log   *safeText
}

func newPuppet(t *testing.T, change func(*Options), args ...string) puppet {
	p := puppet{t: t, notes: make(chan wire.Message, 10000), log: &safeText{}}
	opts := Options{
		Command: childCommand("puppet", args...), Hello: Hello{Era: Initialize, Info: []byte(`{"name":"test"}`)},
		Log:     zerolog.New(p.log),
		Handler: Handler{Notification: func(m wire.Message) { p.notes <- m }},
	}
	if change != nil {
		change(&opts)
	}
	p.Client = New(opts)
	t.Cleanup(func() { doing(t, "Close", func() { p.Close(t.Context()) }) })
	return p
}

// says has the child write lines, and returns when they have been read.
func (p puppet) says(lines ...string) {
	p.t.Helper()
	ask(p.t, p.Client, "x/say", `{"lines":[`+strings.Join(lines, ",")+`]}`)
}

// heard are the messages that the child got, without those of the tests.
func (p puppet) heard() (all []wire.Message) {
	p.t.Helper()
	heard := ask(p.t, p.Client, "x/heard", `{}`)
	for _, text := range wire.Elements([]byte(heard)) {
		if m, _ := wire.Parse(text); !strings.HasPrefix(m.Method(), "x/") {
			all = append(all, m)
		}
	}
	return all
}

// note waits for the next notification.
func (p puppet) note() (m wire.Message) {
	p.t.Helper()
	doing(p.t, "a notification", func() { m = <-p.notes })
	return m
}

// answer waits for what the child got as the answer to a request of its own.
func (p puppet) answer() wire.Message {
	p.t.Helper()
	note := p.note()
	if note.Method() != "x/answer" {
		p.t.Fatalf("got %s, want the answer to a request", note.Raw())
	}
	m, err := wire.Parse(note.Params())
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// idOf is the id under which the server knows the request.
func (p puppet) idOf(a asking) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprint(a.request.id)
}

// ends has the child answer the request.
func (p puppet) ends(a asking) {
	p.t.Helper()
	p.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, p.idOf(a)))
	a.result()
}

// safeText is a log that can be read while it is written.
type safeText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *safeText) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *safeText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
