package e2e

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A front is an HTTP server in the test's process that speaks for a fixture,
// which speaks in lines. There are three: one with sessions (2025-11-25), one
// for requests that stand alone (2026-07-28), one of the deprecated HTTP+SSE
// (2024-11-05). What a client may not send them fails the test.

// lineChild is a process behind a front.
type lineChild struct {
	in  io.WriteCloser
	cmd *exec.Cmd

	mu      sync.Mutex
	streams map[string]*frontStream // of unanswered requests, by the id that the process knows
	newest  []string                // their ids, in their order
	news    *frontStream            // of what belongs to no request
	ended   chan struct{}           // closed when it says nothing more
}

// frontStream is a response that takes lines as they come.
type frontStream struct {
	lines chan string   // room enough that nobody waits
	over  chan struct{} // closed when nothing more comes
	close func()
	id    string // as the client wrote it
	token string // for progress, raw
	logs  bool   // wants log messages
	asks  bool   // a server may ask something in it
	task  string // whose result it waits for, raw

	answered atomic.Bool // the last line is among the lines
}

func newFrontStream(m message) *frontStream {
	s := &frontStream{lines: make(chan string, 10_000), over: make(chan struct{}), id: string(m.ID)}
	s.close = sync.OnceFunc(func() { close(s.over) })
	s.asks = m.Method == "tools/call" || m.Method == "prompts/get" || m.Method == "resources/read"
	if m.Method == "tasks/result" {
		s.task = string(at(m.Params, "taskId"))
	}
	s.token = string(at(m.Params, "_meta", "progressToken"))
	s.logs = statelessVersion(m) == "" || at(m.Params, "_meta", "io.modelcontextprotocol/logLevel") != nil
	return s
}

// startChild starts the fixture; route gets its lines, one by one.
func startChild(t testing.TB, argv []string, route func(*lineChild, message)) *lineChild {
	c := &lineChild{cmd: exec.Command(argv[0], argv[1:]...), streams: map[string]*frontStream{}, ended: make(chan struct{})}
	c.news = newFrontStream(message{})
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		c.in, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		t.Errorf("starting %q: %v", argv, err)
		close(c.ended)
		return c
	}
	go c.follow(out, route)
	return c
}

// follow reads to the end; what is unanswered then is cut.
func (c *lineChild) follow(out io.Reader, route func(*lineChild, message)) {
	defer close(c.ended)
	in := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if m, bad := parseMessage(strings.TrimSpace(line)); bad == nil {
			route(c, m)
		}
		if err != nil {
			break
		}
	}
	_ = c.cmd.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.streams {
		s.close()
	}
	c.news.close()
}

func (c *lineChild) send(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.WriteString(c.in, line+"\n") // its end is seen by follow
}

// stop ends the process and waits for it.
func (c *lineChild) stop() {
	if c.in != nil {
		_ = c.in.Close()
	}
	if c.cmd != nil && c.cmd.Process != nil {
		_ = c.cmd.Process.Kill()
	}
	<-c.ended
}

func (c *lineChild) dead() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

func (c *lineChild) expect(id string, s *frontStream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams[id] = s
	c.newest = append(c.newest, id)
}

// answer gives the stream of a request its last line.
func (c *lineChild) answer(id, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.streams[id]; s != nil {
		s.answered.Store(true)
		s.lines <- line
		s.close()
		delete(c.streams, id)
	}
}

// find is the newest unanswered request that is as wanted, or else the stream
// for news.
func (c *lineChild) find(wanted func(*frontStream) bool) *frontStream {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.newest) - 1; i >= 0; i-- {
		if s := c.streams[c.newest[i]]; s != nil && wanted(s) {
			return s
		}
	}
	return c.news
}

// serve writes what comes until the stream is over or the client is gone,
// which it reports. A lone answer is an object unless streamed says otherwise.
func (s *frontStream) serve(w http.ResponseWriter, r *http.Request, streamed bool) (gone bool) {
	out := http.NewResponseController(w)
	for {
		select {
		case line := <-s.lines:
			if !streamed && len(s.lines) == 0 && isOver(s) {
				writeObject(w, http.StatusOK, line)
				return false
			}
			streamed = true
			writeEvent(w, "", line)
			_ = out.Flush()
		case <-r.Context().Done():
			return true
		case <-s.over:
			if len(s.lines) == 0 && !s.answered.Load() {
				panic(http.ErrAbortHandler) // the process is gone
			}
			if len(s.lines) == 0 {
				return false
			}
		}
	}
}

func isOver(s *frontStream) bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

func writeEvent(w http.ResponseWriter, name, data string) {
	w.Header().Set("Content-Type", "text/event-stream")
	if name != "" {
		name = "event: " + name + "\n"
	}
	_, _ = io.WriteString(w, name+"data: "+data+"\n\n")
}

func writeObject(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
