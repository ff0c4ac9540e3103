package runner

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
)

// session is a front's host, its server, and the tasks that the two have made.
// It outlives the front as long as one of these runs.
type session struct {
	server  Server
	side    *side
	since   time.Time
	version string
	log     zerolog.Logger

	mu    sync.Mutex
	front int // process id; 0 once it has gone
	core  *proxy.Proxy
}

// streams are a session's way to its host and back.
type streams struct {
	in  io.Reader
	out io.Writer
	// end lets go of them, and of the front.
	end    func()
	passed bool // they are the host's own
}

// serve runs the session from its host's first message to the end of its last
// task. The end of ctx is the runner's: then tasks have a grace.
func (s *session) serve(ctx context.Context, host streams, tasks *proxy.Tasks) {
	opts := Options{Server: s.server, In: host.in, Out: host.out, Stderr: s.side, Version: s.version, Log: s.log}
	core := newCore(opts, tasks)
	s.mu.Lock()
	s.core = core
	s.mu.Unlock()
	e := newStdioEdge(core, opts)
	core.Recover(e.dial)
	err := e.serve(ctx)
	within(context.Background(), callGrace, e.finish)
	within(context.Background(), callGrace, e.close)
	if err == nil && ctx.Err() != nil {
		err = errStopped
	}
	s.part(host, err)
	s.outlast(ctx, core)
	within(context.Background(), closeGrace, core.Close)
}

var errStopped = errors.New("the runner was told to end, by mcp-taskproxy stop or with the system: tasks that were running are recorded as failed, those that were not sent yet run at the next start, results stay")

// part lets the front go: nothing of the session needs it any more.
func (s *session) part(host streams, err error) {
	s.mu.Lock()
	s.front = 0
	s.mu.Unlock()
	host.end() // its reader is gone, or reads the end
	s.side.end(err)
}

// outlast waits for the tasks, however long they take.
func (s *session) outlast(ctx context.Context, core *proxy.Proxy) {
	core.Drain(ctx)
	if ctx.Err() != nil {
		within(context.Background(), taskGrace, core.Drain)
	}
}

func (s *session) status() SessionStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := SessionStatus{Front: s.front, Program: s.program(), Since: s.since}
	if s.core != nil {
		status.Upstreams = s.core.PIDs()
	}
	return status
}

// program names the server without its arguments and path, which may be secret.
func (s *session) program() string {
	if args := s.server.Upstream.Args; len(args) > 0 {
		return filepath.Base(args[0])
	}
	return "a server over HTTP"
}
