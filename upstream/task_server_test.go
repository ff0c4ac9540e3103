package upstream

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// taskServer is a server over HTTP that makes tasks of calls that may become one:
// t1, t2 … How they go on is the test's to say.
type taskServer struct {
	*web
	extension bool
	pace      string // further members of every task

	mu    sync.Mutex
	tasks map[string]*serverTask
}

type serverTask struct {
	status  string
	more    string        // members behind the status, each with a comma before it
	outcome string        // the member that answers tasks/result, or is inlined
	done    chan struct{} // closed with a status that is final
}

const taskTools = `{"name":"must","execution":{"taskSupport":"required"}},{"name":"may","execution":{"taskSupport":"optional"}},` +
	`{"name":"never","execution":{"taskSupport":"forbidden"}},{"name":"plain"}`

func newTaskServer(t *testing.T, extension bool) *taskServer {
	s := &taskServer{extension: extension, tasks: map[string]*serverTask{}}
	if extension {
		s.web = modern(t, map[string]handler{
			"server/discover":      result(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`),
			"subscriptions/listen": refuse404,
		})
		s.pace = `,"ttlMs":null,"pollIntervalMs":50`
	} else {
		s.web = legacy(t, nil)
		initialize := s.handlers["initialize"]
		s.on("initialize", func(w http.ResponseWriter, v visit) {
			initialize(&rewritten{w}, v)
		})
		s.pace = `,"ttl":null,"pollInterval":50`
	}
	for name, h := range map[string]handler{
		"tools/list": result(`{"tools":[` + taskTools + `]}`), "tools/call": s.call, "tasks/get": s.get, "tasks/result": s.result,
		"tasks/cancel": s.cancel, "tasks/update": result(`{"resultType":"complete"}`),
	} {
		s.on(name, h)
	}
	return s
}

// rewritten adds tasks to the capabilities of a greeting.
type rewritten struct{ http.ResponseWriter }

func (w *rewritten) Write(b []byte) (int, error) {
	text := strings.Replace(string(b), `"capabilities":{`, `"capabilities":{"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}},`, 1)
	_, err := w.ResponseWriter.Write([]byte(text))
	return len(b), err
}

func (s *taskServer) call(w http.ResponseWriter, v visit) {
	wanted := wire.Get(v.message.Params(), "task") != nil
	if s.extension {
		wanted = wire.Lookup(v.message.Params(), "_meta", metaCapabilities, "extensions", tasksExtension) != nil
	}
	if !wanted {
		result(`{"content":[],"plain":true}`)(w, v)
		return
	}
	result(s.made(s.create("working")))(w, v)
}

func (s *taskServer) create(status string) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id = fmt.Sprint("t", len(s.tasks)+1)
	s.tasks[id] = &serverTask{status: status, done: make(chan struct{})}
	return id
}

// made is the result that says so.
func (s *taskServer) made(id string) string {
	if s.extension {
		return `{"resultType":"task",` + s.object(id)[1:]
	}
	return `{"task":` + s.object(id) + `}`
}

func (s *taskServer) object(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	task := s.tasks[id]
	object := fmt.Sprintf(`{"taskId":%q,"status":%q%s%s`, id, task.status, s.pace, task.more)
	if s.extension && task.outcome != "" {
		object += "," + task.outcome
	}
	return object + "}"
}

func (s *taskServer) of(v visit) (id string, task *serverTask) {
	id, _ = wire.String(wire.Get(v.message.Params(), "taskId"))
	s.mu.Lock()
	defer s.mu.Unlock()
	return id, s.tasks[id]
}

func (s *taskServer) get(w http.ResponseWriter, v visit) {
	id, task := s.of(v)
	if task == nil {
		failure(http.StatusBadRequest, wire.CodeInvalidParams, "Failed to retrieve task: Task not found")(w, v)
		return
	}
	object := s.object(id)
	if s.extension {
		object = `{"resultType":"complete",` + object[1:]
	}
	result(object)(w, v)
}

// result blocks until the task is done.
func (s *taskServer) result(w http.ResponseWriter, v visit) {
	_, task := s.of(v)
	if task == nil {
		failure(http.StatusBadRequest, wire.CodeInvalidParams, "Failed to retrieve task: Task not found")(w, v)
		return
	}
	out := openStream(w)
	select {
	case <-task.done:
		s.mu.Lock()
		defer s.mu.Unlock()
		out.send(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n\n", v.message.ID(), task.outcome))
	case <-v.request.Context().Done():
	}
}

func (s *taskServer) cancel(w http.ResponseWriter, v visit) {
	id, task := s.of(v)
	if task != nil && !isFinal(task.status) {
		s.set(id, "cancelled", "", `"error":{"code":-32603,"message":"cancelled"}`)
	}
	result("{}")(w, v)
}

// set changes a task; an outcome that is empty leaves what there is.
func (s *taskServer) set(id, status, more, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	task := s.tasks[id]
	before := task.status
	task.status, task.more = status, more
	if outcome != "" {
		task.outcome = outcome
	}
	if isFinal(status) && !isFinal(before) {
		close(task.done)
	}
}

// forget is for a server that has lost a task.
func (s *taskServer) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tasks, id)
}

// following is a call that may become a task at the server.
type following struct {
	asking
	*taker
	made     chan []byte
	statuses chan string
	progress chan wire.Message
}

// begin sends a call of the tool with a wish for a task.
func begin(t *testing.T, c *Client, tool string, change func(*Request)) following {
	f := newFollowing(t)
	f.asking = send(t, c, "tools/call", fmt.Sprintf(`{"name":%q}`, tool), func(r *Request) {
		f.dress(r)
		if change != nil {
			change(r)
		}
	})
	return f
}

func newFollowing(t *testing.T) following {
	return following{taker: newTaker(t), made: make(chan []byte, 1), statuses: make(chan string, 10000), progress: make(chan wire.Message, 10)}
}

func (f following) dress(r *Request) {
	f.takes(r)
	r.Notify = func(m wire.Message) { f.progress <- m }
	r.Task = &TaskWish{TTL: time.Minute, Made: func(ref []byte) { f.made <- ref }, Status: func(message string) { f.statuses <- message }}
}

// ref waits until the server has made a task.
func (f following) ref() (ref []byte) {
	f.asking.t.Helper()
	doing(f.asking.t, "the task", func() { ref = <-f.made })
	return ref
}

// status waits for that message.
func (f following) status(want string) {
	f.asking.t.Helper()
	doing(f.asking.t, "the status "+want, func() {
		for <-f.statuses != want {
		}
	})
}

// takeUp follows a task of an earlier client.
func takeUp(t *testing.T, c *Client, ref []byte) following {
	f := newFollowing(t)
	f.asking = asking{t, &Request{Message: wire.Request(0, "tools/call", []byte(`{"name":"may"}`))}, make(chan answer, 2)}
	f.request.Reply = func(m wire.Message, err *Error) { f.answer <- answer{m, err} }
	f.dress(f.request)
	c.Resume(f.request, ref)
	return f
}

// inTime gives a test a client of the server in a bubble, where pauses take none.
func inTime(t *testing.T, s *taskServer, test func(t *testing.T, c *Client)) {
	synctest.Test(t, func(t *testing.T) {
		network := newMemory()
		playing := &http.Server{Handler: s}
		go func() { _ = playing.Serve(network) }()
		c := New(Options{URL: "http://server.test/mcp", Dial: network.dial, Hello: Hello{Era: Stateless, Info: []byte(`{"name":"test"}`)}})
		defer playing.Close()
		defer c.Close(t.Context())
		test(t, c)
	})
}

// times are when the server saw that, from the first call on.
func (s *taskServer) times(name string) (all []time.Duration) {
	calls := s.visits("tools/call")
	for _, v := range s.visits(name) {
		all = append(all, v.at.Sub(calls[0].at))
	}
	return all
}
