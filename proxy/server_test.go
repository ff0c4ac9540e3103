package proxy

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire/pipenet"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// server is a real HTTP server whose connections are pipes, so that it runs on
// the fake clock of a bubble. What becomes of a call is played by the test.
type server struct {
	t     *testing.T
	era   upstream.Era
	http  *http.Server
	pipes *pipenet.Listener
	plays chan *play

	mu      sync.Mutex
	answers []wire.Message       // to its questions
	notices []wire.Message       // notifications/cancelled
	react   func(m wire.Message) // takes an answer when it comes
	tools   func(cursor string) string
	keeps   func(m wire.Message) (result string) // answers tasks/*; nil for a server that makes no tasks

	capabilities string // members beside its tools, each with a comma behind it
}

func newServer(t *testing.T, era upstream.Era) *server {
	s := &server{t: t, era: era, plays: make(chan *play, 10000)}
	s.tools = func(string) string { return `{"tools":[]}` }
	s.pipes = pipenet.New()
	s.http = &http.Server{Handler: s}
	go s.http.Serve(s.pipes) // ends with Close
	t.Cleanup(s.dies)
	return s
}

// dies ends every connection, and takes no other.
func (s *server) dies() { s.http.Close() }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, _ := wire.Parse(body)
	switch {
	case m.IsResponse():
		s.hears(m)
		w.WriteHeader(http.StatusAccepted)
	case m.IsNotification():
		s.note(m)
		w.WriteHeader(http.StatusAccepted)
	case Conversable(m.Method()):
		s.play(w, r, m)
	case m.Method() != "":
		s.say(w, m)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *server) hears(m wire.Message) {
	s.mu.Lock()
	s.answers = append(s.answers, m)
	react := s.react
	s.mu.Unlock()
	if react != nil {
		react(m)
	}
}

func (s *server) note(m wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Method() == "notifications/cancelled" {
		s.notices = append(s.notices, m)
	}
}

func (s *server) extension() string {
	if s.keeps == nil {
		return ""
	}
	return `,"extensions":{"io.modelcontextprotocol/tasks":{}}`
}

// say answers what is no call.
func (s *server) say(w http.ResponseWriter, m wire.Message) {
	w.Header().Set("Content-Type", "application/json")
	result := ""
	switch cursor, _ := wire.String(wire.Get(m.Params(), "cursor")); {
	case m.Method() == "initialize" && s.era == upstream.Initialize:
		w.Header().Set("Mcp-Session-Id", "s1")
		result = `{"protocolVersion":"2025-11-25","capabilities":{` + s.capabilities + `"tools":{}}}`
	case m.Method() == "server/discover" && s.era == upstream.Stateless:
		result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{` + s.capabilities + `"tools":{}` + s.extension() + `}}`
	case m.Method() == "tools/list":
		result = s.tools(cursor)
	case s.keeps != nil:
		result = s.keeps(m)
	}
	if result == "" {
		w.WriteHeader(http.StatusNotFound)
		w.Write(wire.Failure(m.ID(), wire.Errorf(wire.CodeMethodNotFound, "Method not found")).Raw())
		return
	}
	w.Write(wire.Result(m.ID(), []byte(result)).Raw())
}

func (s *server) play(w http.ResponseWriter, r *http.Request, m wire.Message) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	p := &play{server: s, message: m, w: w, header: r.Header, over: make(chan struct{})}
	s.plays <- p
	select {
	case <-p.over:
	case <-r.Context().Done():
	}
	p.leave()
}

// next waits for a call.
func (s *server) next() *play {
	s.t.Helper()
	select {
	case p := <-s.plays:
		return p
	case <-time.After(time.Minute):
		s.t.Fatal("the server got no call")
		return nil
	}
}

// idle checks that no call comes within d.
func (s *server) idle(d time.Duration) {
	s.t.Helper()
	select {
	case p := <-s.plays:
		s.t.Errorf("the server got %s", p.message.Raw())
	case <-time.After(d):
	}
}

// got returns the answers to its questions.
func (s *server) got() []wire.Message {
	settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers
}

// wantAnswers compares the actions, or the codes of the errors, that the server
// has got, in their order.
func (s *server) wantAnswers(want ...string) {
	s.t.Helper()
	var got []string
	for _, m := range s.got() {
		got = append(got, gist(m))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("the server got the answers %q, want %q", got, want)
	}
}

// gist is the action that an answer says, or the code of its error.
func gist(m wire.Message) string {
	if m.Err() != nil {
		return string(wire.Get(m.Err(), "code"))
	}
	action, _ := wire.String(wire.Get(m.Result(), "action"))
	return action
}

func (s *server) wantCancelled(want int) {
	s.t.Helper()
	settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notices) != want {
		s.t.Errorf("the server was told of %d cancellations, want %d", len(s.notices), want)
	}
}
