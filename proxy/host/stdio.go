package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// StdioOptions configures a [Stdio].
type StdioOptions struct {
	Proxy *proxy.Proxy
	In    io.Reader
	Out   io.Writer
	// Version is this program's own.
	Version string
	// Era overrides which era is tried first with the upstream server, or
	// alone; nil follows the host.
	Era *upstream.Era
	// MessageBytes limits one message of the host; 0 means 32 MiB.
	MessageBytes int
	// StartWait is how long server/discover waits for a slow upstream server
	// before it is answered with an error; 0 means 25 s.
	StartWait   time.Duration
	Log         zerolog.Logger
	LogPayloads bool
}

// Stdio is the edge for one host on a pair of byte streams, one message a line
// (revision 2026-07-28, stdio). The host may speak either era, or both.
type Stdio struct {
	opts StdioOptions
	out  *wire.LineWriter

	inflight  *inflight
	stateless *stateless
	closing   atomic.Bool   // requests are refused
	finished  chan struct{} // closed when Finish has nothing more to do

	mu      sync.Mutex
	session *session // begun by initialize
}

// NewStdio makes an edge. Call Serve once, and then Close.
func NewStdio(opts StdioOptions) *Stdio {
	if opts.MessageBytes == 0 {
		opts.MessageBytes = 32 << 20
	}
	if opts.StartWait == 0 {
		opts.StartWait = 25 * time.Second
	}
	s := &Stdio{opts: opts, out: wire.NewLineWriter(opts.Out), inflight: newInflight(), finished: make(chan struct{})}
	s.stateless = newStateless(s)
	return s
}

// Upstream is the session of the host's stateless requests, which is also the
// one for tasks that an earlier process left behind.
func (s *Stdio) Upstream() *upstream.Client { return s.stateless.client }

// Serve takes messages until the host closes the stream: then it returns nil.
// It does not wait for answers.
func (s *Stdio) Serve() error {
	lines := wire.NewLineReader(s.opts.In, s.opts.MessageBytes)
	lines.OnMore(s.more)
	for {
		line, err := lines.Next()
		var tooLong *wire.TooLongError
		switch {
		case err == nil:
			s.line(line)
		case errors.As(err, &tooLong):
			s.refuse(tooLong.ID(), refusedLength(tooLong))
		case err == io.EOF:
			return nil
		default:
			return err
		}
	}
}

// more lets the requests of one go of the host reach the server in one go.
func (s *Stdio) more(more bool) {
	s.stateless.client.More(more)
	if session := s.current(); session != nil {
		session.client.More(more)
	}
}

func (s *Stdio) line(line []byte) {
	m, err := wire.Parse(line)
	switch {
	case errors.Is(err, wire.ErrNotJSON):
		s.refuse(nil, wire.Errorf(wire.CodeParse, "%v", err))
	case err != nil && s.batch(line):
	case err != nil:
		s.refuse(m.ID(), wire.Errorf(wire.CodeInvalidRequest, "%v", err))
	default:
		s.log("from host", m)
		s.message(m)
	}
}

// batch takes the messages of a batch one by one, in a session of the only
// revision that has batches; their answers come one by one too.
func (s *Stdio) batch(line []byte) bool {
	session, elements := s.current(), wire.Elements(line)
	if session == nil || string(session.version) != `"2025-03-26"` || len(elements) == 0 {
		return false
	}
	for _, element := range elements {
		s.line(element)
	}
	return true
}

func (s *Stdio) refuse(id []byte, err *wire.Error) {
	s.opts.Log.Warn().Int("code", err.Code).Err(err).Msg("refused a message of the host")
	s.send(wire.Failure(id, err))
}

func refusedLength(e *wire.TooLongError) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidRequest,
		Message: fmt.Sprintf("Refused: %v. It was not sent on; raise limits.message_bytes or send less.", e),
		Data:    map[string]any{"reason": "too_large", "outcome": upstream.NotDispatched, "limit": e.Limit},
	}
}

func (s *Stdio) message(m wire.Message) {
	switch {
	case m.IsRequest():
		s.request(m)
	case m.IsNotification():
		s.notification(m)
	default:
		if session := s.current(); session != nil {
			session.response(m)
		}
	}
}

func (s *Stdio) request(m wire.Message) {
	flight := s.inflight.begin(m.ID())
	x := exchange{request: m, notify: s.send}
	x.reply = func(response wire.Message) bool {
		return s.inflight.answer(flight, func() { s.sendRaw(response.Rewrite(wire.Changes{ID: m.ID()})) })
	}
	if s.closing.Load() {
		x.fail(shuttingDown())
		return
	}
	s.inflight.cancellable(flight, s.serve(x))
}

// serve goes by how the request opens (revision 2026-07-28, Versioning,
// Backward Compatibility): per-request _meta means the stateless era,
// initialize the other one, for the rest of the process.
func (s *Stdio) serve(x exchange) canceller {
	m := x.request
	switch session := s.current(); {
	case opensStateless(m):
		return s.stateless.serve(x)
	case m.Method() == "initialize":
		return s.open(m.Params()).initialize(x)
	case session != nil:
		return session.serve(x)
	case m.Method() == "ping": // allowed before initialize
		x.result([]byte("{}"))
		return nil
	}
	return s.stateless.serve(x)
}

// open begins the conversation. An upstream server that only stateless
// requests have used so far is sent home if it has nothing to do: it was
// greeted without the capabilities that the host declares now.
func (s *Stdio) open(params []byte) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		s.session = newSession(s, params)
		s.stateless.client.Rest()
	}
	return s.session
}

func (s *Stdio) current() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

func (s *Stdio) notification(m wire.Message) {
	if m.Method() == "notifications/cancelled" {
		s.inflight.cancel(wire.Get(m.Params(), "requestId"), m)
		return
	}
	if session := s.current(); session != nil && !opensStateless(m) {
		session.notification(m)
		return
	}
	s.stateless.notification(m)
}

func (s *Stdio) send(m wire.Message) { s.sendRaw(m.Raw()) }

func (s *Stdio) sendRaw(text []byte) {
	if s.opts.LogPayloads {
		s.opts.Log.Debug().Bytes("message", text).Msg("to host")
	}
	if err := s.out.WriteLine(text); err != nil {
		s.opts.Log.Debug().Err(err).Msg("the host does not take messages any more")
	}
}

func (s *Stdio) log(what string, m wire.Message) {
	if s.opts.LogPayloads {
		s.opts.Log.Debug().Bytes("message", m.Raw()).Msg(what)
	}
}

// Finish refuses what the host still sends, ends subscriptions and waits for
// what is unanswered, until ctx ends; the rest is cancelled. Tasks are no part
// of this: their calls have been answered. A host that does not read can keep
// some of it from getting done: then it is left to Close.
func (s *Stdio) Finish(ctx context.Context) {
	s.closing.Store(true)
	go func() {
		defer close(s.finished)
		s.stateless.endSubscriptions()
		s.inflight.wait(ctx)
		s.inflight.cancelAll(wire.Notification("notifications/cancelled", []byte(`{"reason":"the client is gone"}`)))
		s.stateless.close()
	}()
	select {
	case <-s.finished:
	case <-ctx.Done():
		select {
		case <-s.finished:
		case <-time.After(cancelGrace):
		}
	}
}

// cancelGrace is for telling the server of cancellations.
const cancelGrace = 250 * time.Millisecond

// Close sends what is queued and ends the edge; later answers are dropped. If
// ctx ends first, as with a host that does not read any more, the goroutine
// that writes stays until the process ends. Call it after Finish.
func (s *Stdio) Close(ctx context.Context) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		if err := s.out.Close(); err != nil {
			s.opts.Log.Debug().Err(err).Msg("the host did not take the last messages")
		}
		<-s.finished
	}()
	select {
	case <-written:
	case <-ctx.Done():
	}
}
