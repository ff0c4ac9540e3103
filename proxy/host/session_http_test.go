package host

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// caller is a host in sessions over HTTP.
type caller struct {
	t       *testing.T
	core    *proxy.Proxy
	edge    *HTTP
	server  *httptest.Server
	session string
}

func newCaller(t *testing.T, opts HTTPOptions) *caller {
	t.Helper()
	core := newCore(t, someTasks)
	opts.Options = Options{Proxy: core, Version: "test", Log: zerolog.Nop()}
	edge := NewHTTP(opts)
	c := &caller{t: t, core: core, edge: edge, server: httptest.NewServer(edge)}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		edge.Finish(ctx)
		c.server.CloseClientConnections()
		c.server.Close()
		edge.Close()
	})
	return c
}

func (c *caller) send(method, body string) *http.Response {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	c.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, c.server.URL, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"}}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	response, err := c.server.Client().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (c *caller) opens() {
	c.t.Helper()
	c.session = ""
	response := c.asks("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"h","version":"1"}}`)
	c.session = response.header.Get("Mcp-Session-Id")
	_ = c.send(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// arrivals are the messages of one response as they come.
type arrivals struct {
	t      *testing.T
	header http.Header
	lines  *bufio.Scanner
}

func (c *caller) begins(method, params string) arrivals {
	c.t.Helper()
	return c.read(c.send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
}

func (c *caller) read(response *http.Response) arrivals {
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return arrivals{c.t, response.Header, lines}
}

func (a arrivals) next() wire.Message {
	a.t.Helper()
	for a.lines.Scan() {
		text := strings.TrimPrefix(a.lines.Text(), "data: ")
		if m, err := wire.Parse([]byte(text)); err == nil {
			return m
		}
	}
	a.t.Fatal("the response has ended")
	return wire.Message{}
}

func (a arrivals) find(fits func(wire.Message) bool) (found wire.Message) {
	a.t.Helper()
	for found = a.next(); !fits(found); found = a.next() {
	}
	return found
}

type response struct {
	wire.Message
	header http.Header
}

func (c *caller) asks(method, params string) response {
	c.t.Helper()
	a := c.begins(method, params)
	return response{a.find(wire.Message.IsResponse), a.header}
}

func (c *caller) makes(tool string) string {
	c.t.Helper()
	m := c.asks("tools/call", `{"name":"`+tool+`","task":{},"_meta":{"progressToken":"p"}}`)
	id, ok := wire.String(wire.Lookup(m.Result(), "task", "taskId"))
	if !ok {
		c.t.Fatalf("calling %s as a task: %s", tool, m.Raw())
	}
	return id
}

// becomes waits until the task has that status.
func (c *caller) becomes(id string, status taskstate.Status) {
	c.t.Helper()
	watch, err := c.core.Watch("", id)
	if err != nil {
		c.t.Fatal(err)
	}
	defer watch.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	for {
		task, err := watch.Next(ctx)
		if err != nil {
			c.t.Fatalf("the task does not become %s: %v", status, err)
		}
		if task.Status == status {
			return
		}
	}
}

func TestQuestionWaitsForAStreamItCanGoTo(t *testing.T) {
	for name, listen := range map[string]func(c *caller, id string) arrivals{
		"tasks/result": func(c *caller, id string) arrivals { return c.begins("tasks/result", taskParams(id)) },
		"GET":          func(c *caller, _ string) arrivals { return c.read(c.send(http.MethodGet, "")) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t, HTTPOptions{})
			c.opens()
			id := c.makes("ask")
			c.becomes(id, taskstate.InputRequired)
			if m := c.asks("tasks/get", taskParams(id)); m.header.Get("Content-Type") != "application/json" {
				t.Errorf("tasks/get was answered with a stream")
			}
			question := listen(c, id).find(calls("elicitation/create"))
			if got := string(wire.Lookup(question.Params(), "_meta", metaRelatedTask)); got != taskParams(id) {
				t.Errorf("the question names %s", got)
			}
			_ = c.send(http.MethodPost, `{"jsonrpc":"2.0","id":`+string(question.ID())+`,"result":{"action":"accept"}}`)
			if m := c.asks("tasks/result", taskParams(id)); !strings.Contains(string(m.Result()), "accepted") {
				t.Errorf("tasks/result: %s", m.Raw())
			}
		})
	}
}

func TestStreamForNewsTellsOfTasks(t *testing.T) {
	c := newCaller(t, HTTPOptions{})
	c.opens()
	news := c.read(c.send(http.MethodGet, ""))
	id := c.makes("hold")
	if got := string(wire.Get(news.find(calls("notifications/progress")).Params(), "progressToken")); got != `"p"` {
		t.Errorf("progress came under token %s", got)
	}
	c.asks("tools/call", `{"name":"release"}`)
	told := news.find(func(m wire.Message) bool {
		return m.Method() == "notifications/tasks/status" && string(wire.Get(m.Params(), "status")) == `"completed"`
	})
	if got := string(wire.Get(told.Params(), "taskId")); got != string(wire.Quote(id)) {
		t.Errorf("it was told of task %s", got)
	}
}

func TestTaskOutlivesItsSession(t *testing.T) {
	for name, end := range map[string]func(*caller){
		"DELETE": func(c *caller) { _ = c.send(http.MethodDelete, "") },
		"idle": func(c *caller) { // the session is not found any more
			for c.send(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/x"}`).StatusCode != http.StatusNotFound {
				<-time.After(idleOfTest)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t, HTTPOptions{SessionIdle: idleOfTest / 2})
			c.opens()
			id := c.makes("ask")
			c.becomes(id, taskstate.InputRequired)
			end(c)
			c.opens()
			stream := c.begins("tasks/result", taskParams(id))
			question := stream.find(calls("elicitation/create"))
			_ = c.send(http.MethodPost, `{"jsonrpc":"2.0","id":`+string(question.ID())+`,"result":{"action":"accept"}}`)
			if m := stream.find(wire.Message.IsResponse); !strings.Contains(string(m.Result()), "accepted") {
				t.Errorf("tasks/result: %s", m.Raw())
			}
			c.wantNoServers(1)
		})
	}
}

const idleOfTest = 200 * time.Millisecond

// wantNoServers waits until no more than that many server processes run.
func (c *caller) wantNoServers(most int) {
	c.t.Helper()
	late := time.After(10 * time.Second)
	for len(c.core.PIDs()) > most {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-late:
			c.t.Fatalf("%d servers run, want %d", len(c.core.PIDs()), most)
		}
	}
}
