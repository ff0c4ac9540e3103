package host

import (
	"bufio"
	"context"
	"io"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// newCore is a proxy before real server processes.
func newCore(t *testing.T, policies proxy.Policies) *proxy.Proxy {
	t.Helper()
	return limitedCore(t, policies, proxy.Limits{})
}

func limitedCore(t *testing.T, policies proxy.Policies, limits proxy.Limits) *proxy.Proxy {
	t.Helper()
	store := openStore(t, t.TempDir())
	core := proxy.New(proxy.Options{
		Tasks: proxy.NewTasks(store, zerolog.Nop()), Log: zerolog.Nop(), Policies: policies, Limits: limits,
		Upstream: upstream.Options{Command: upstream.Command{Args: []string{os.Args[0]}, Env: append(os.Environ(), childMode+"="+tasksChild)}, Log: zerolog.Nop()},
	})
	t.Cleanup(func() {
		core.Close(t.Context())
		_ = store.Close()
	})
	return core
}

func openStore(t testing.TB, dir string) *taskstate.Store {
	t.Helper()
	store, err := taskstate.Open(t.Context(), dir, &taskstate.Options{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// someTasks has calls become tasks only where that is asked for.
var someTasks = proxy.Policies{
	Default: proxy.Policy{Task: proxy.After, After: time.Hour, TTL: time.Hour, PollInterval: time.Second},
	Tools:   []proxy.ToolPolicy{{Pattern: "never", Policy: proxy.Policy{Task: proxy.Never}}, {Pattern: "required", Policy: proxy.Policy{Task: proxy.Required, TTL: time.Hour}}},
}

// talker is a host on stdio, and says what the test has it say.
type talker struct {
	t    *testing.T
	core *proxy.Proxy
	in   *io.PipeWriter
	came chan wire.Message
	kept []wire.Message // came, and nobody has asked for it yet
}

func newTalker(t *testing.T, opts Options) *talker {
	t.Helper()
	inReader, in := io.Pipe()
	out, outWriter := io.Pipe()
	opts.Version, opts.Log = "test", zerolog.Nop()
	edge := NewStdio(inReader, outWriter, opts)
	host := &talker{t: t, core: opts.Proxy, in: in, came: make(chan wire.Message, 1000)}
	go func() { _ = edge.Serve() }()
	go host.listen(out)
	t.Cleanup(func() {
		_ = in.Close()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		edge.Finish(ctx)
		edge.Close(t.Context())
		_ = out.Close()
	})
	return host
}

func (h *talker) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m, err := wire.Parse([]byte(lines.Text())); err == nil {
			h.came <- m
		}
	}
}

func (h *talker) say(text string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, text+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// hears returns the first message that fits, whenever it comes; what else comes
// is kept for later.
func (h *talker) hears(what string, fits func(wire.Message) bool) wire.Message {
	h.t.Helper()
	for i, m := range h.kept {
		if fits(m) {
			h.kept = append(h.kept[:i:i], h.kept[i+1:]...)
			return m
		}
	}
	late := time.After(10 * time.Second)
	for {
		select {
		case m := <-h.came:
			if fits(m) {
				return m
			}
			h.kept = append(h.kept, m)
		case <-late:
			h.t.Fatalf("%s did not come; there are %d other messages: %s", what, len(h.kept), raws(h.kept))
		}
	}
}

func raws(all []wire.Message) (text string) {
	for _, m := range all {
		text += "\n" + string(m.Raw())
	}
	return text
}

// hasNot checks, where everything has come that could, that nothing fits.
func (h *talker) hasNot(what string, fits func(wire.Message) bool) {
	h.t.Helper()
	h.asks("fence", "ping", `{}`)
	for _, m := range h.kept {
		if fits(m) {
			h.t.Errorf("%s came: %s", what, m.Raw())
		}
	}
}

func answers(id string) func(wire.Message) bool {
	return func(m wire.Message) bool { return m.IsResponse() && string(m.ID()) == `"`+id+`"` }
}

func calls(method string) func(wire.Message) bool {
	return func(m wire.Message) bool { return m.Method() == method }
}

func (h *talker) begins(id, method, params string) {
	h.t.Helper()
	h.say(`{"jsonrpc":"2.0","id":"` + id + `","method":"` + method + `","params":` + params + `}`)
}

func (h *talker) asks(id, method, params string) wire.Message {
	h.t.Helper()
	h.begins(id, method, params)
	return h.hears("the answer to "+method, answers(id))
}

// opens begins a session of that revision.
func (h *talker) opens(revision string) (result []byte) {
	h.t.Helper()
	m := h.asks("open", "initialize", `{"protocolVersion":"`+revision+`","capabilities":{"elicitation":{}},"clientInfo":{"name":"h","version":"1"}}`)
	h.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m.Result()
}

// makes calls a tool as a task, and returns the id of the task.
func (h *talker) makes(tool string) string {
	h.t.Helper()
	m := h.asks("make", "tools/call", `{"name":"`+tool+`","task":{},"_meta":{"progressToken":"p"}}`)
	id, ok := wire.String(wire.Lookup(m.Result(), "task", "taskId"))
	if !ok {
		h.t.Fatalf("calling %s as a task: %s", tool, m.Raw())
	}
	return id
}

// holds makes a task that the server is at work on, until release is called.
func (h *talker) holds() (id string) {
	h.t.Helper()
	id = h.makes("hold")
	h.hears("progress", calls("notifications/progress"))
	return id
}

// becomes waits until the task has that status, as the host is told.
func (h *talker) becomes(id, status string) wire.Message {
	h.t.Helper()
	return h.hears(id+" is "+status, func(m wire.Message) bool {
		return m.Method() == "notifications/tasks/status" && string(wire.Get(m.Params(), "taskId")) == `"`+id+`"` &&
			string(wire.Get(m.Params(), "status")) == `"`+status+`"`
	})
}

func taskParams(id string) string { return `{"taskId":"` + id + `"}` }

func wantCode(t *testing.T, what string, m wire.Message, code string) {
	t.Helper()
	if got := string(wire.Get(m.Err(), "code")); got != code {
		t.Errorf("%s: got %s, want code %s", what, m.Raw(), code)
	}
}
