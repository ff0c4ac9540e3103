package rawmcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// era is what differs between the two ways of opening a conversation.
type era interface {
	// handle deals with what only this era has and reports whether it did.
	handle(m message) bool
	// result wraps the members of a result; cached ones carry cache hints where the era wants them.
	result(members string, cached bool) string
	// changed tells whoever wants to know that a list or resource changed.
	changed(method, uri string)
	// ask puts a question to the client and answers the call with the reply.
	ask(c *call)
	// quiz asks rounds of questions and answers the call with the replies.
	quiz(c *call, rounds [][]question)
	// logs says whether a call may send notifications/message.
	logs(c *call) bool
	// tools is the member of tools/list that lists them.
	tools() string
	// tasked says whether a call becomes a task, or is refused with an error, in
	// a server that makes tasks; support is that of the tool.
	tasked(m message, support string) (task bool, refusal string)
	// created is the answer to a call that became a task, told what its client
	// hears when that changes; both are called with the tasks locked.
	created(t *task) string
	told(t *task)
	// verdict is the last state of a task that has an outcome.
	verdict(t *task) (status, message string)
	// put asks a question, and withdraw takes it back.
	put(c *call, q question) asked
	withdraw(c *call, a asked)
}

type server struct {
	opts    Options
	era     era
	out     *lineWriter
	log     *record
	effects *record
	gates   gates
	tasks   tasks

	mu      sync.Mutex
	calls   sync.WaitGroup
	running map[string]context.CancelCauseFunc // by raw request id
	asked   map[string]chan message            // by raw id of our own request
	// questions counts our own requests.
	questions int
}

func newServer(opts Options) *server {
	return &server{
		opts: opts, out: newLineWriter(os.Stdout, opts),
		log: openRecord(opts.Log), effects: openRecord(opts.Effects),
		gates:   gates{open: map[string]chan struct{}{}},
		tasks:   tasks{all: map[string]*task{}},
		running: map[string]context.CancelCauseFunc{}, asked: map[string]chan message{},
	}
}

// serve reads until stdin ends. Calls that wait for something are given up then,
// those that are about to answer still do.
func (s *server) serve() {
	if s.opts.IgnoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	if os.Getenv(runVariable) != "" {
		s.effects.add("server " + strconv.Itoa(os.Getpid()))
	}
	if s.opts.Banner {
		s.out.banner()
	}
	time.Sleep(s.opts.StartDelay)
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		s.receive(bytes.TrimRight(line, "\r\n"))
		if err != nil {
			break
		}
	}
	for s.opts.IgnoreEOF {
		time.Sleep(time.Hour) // not select{}, which the runtime would call a deadlock
	}
	s.giveUp()
}

func (s *server) giveUp() {
	s.mu.Lock()
	for _, cancel := range s.running {
		cancel(io.EOF)
	}
	s.mu.Unlock()
	s.calls.Wait()
}

func (s *server) receive(line []byte) {
	var m message
	if len(line) == 0 {
		return
	}
	s.log.add(string(line))
	if err := json.Unmarshal(line, &m); err != nil {
		_, _ = io.WriteString(os.Stderr, "rawmcp: not JSON: "+err.Error()+"\n")
		return
	}
	if m.Method == "" {
		s.answered(m)
	} else if !s.era.handle(m) {
		s.common(m)
	}
}

func (s *server) reply(id json.RawMessage, result string) {
	s.out.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`)
}

func (s *server) notify(method, params string) {
	s.out.write(`{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`)
}
