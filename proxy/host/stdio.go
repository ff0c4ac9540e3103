package host

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Stdio is the edge for one host on a pair of byte streams, one message a line
// (revision 2026-07-28, stdio). The host may speak either era, or both.
type Stdio struct {
	*channel
	in  io.Reader
	out *wire.LineWriter

	inflight  *inflight
	stateless *stateless
	closing   atomic.Bool   // requests are refused
	left      atomic.Bool   // the host has closed its stream
	finished  chan struct{} // closed when Finish has nothing more to do

	mu      sync.Mutex
	session *session // begun by initialize
}

// NewStdio makes an edge. Call Serve once, then Finish, and then Close.
func NewStdio(in io.Reader, out io.Writer, opts Options) *Stdio {
	s := &Stdio{in: in, out: wire.NewLineWriter(out), inflight: newInflight(), finished: make(chan struct{})}
	s.out.HoldAtMost(longestHold)
	s.channel = newChannel(opts.withDefaults(), "", s.write, s.out.Hold)
	s.stateless = newStateless(s.channel, nil)
	return s
}

// longestHold is what an answer waits at most for others to be written with it: what
// the host and the server say in one go is read in less.
const longestHold = 2 * time.Millisecond

// Dial is the session of the host's stateless requests, which is also the one
// for tasks that an earlier process left behind.
func (s *Stdio) Dial(sender upstream.Caller) *upstream.Client {
	s.stateless.client.Declare(sender.Capabilities)
	return s.stateless.client
}

// Serve takes messages until the host closes the stream: then it returns nil.
// It does not wait for answers.
func (s *Stdio) Serve() error {
	lines := wire.NewLineReader(s.in, s.MessageBytes)
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
			s.left.Store(true)
			return nil
		default:
			return err
		}
	}
}

// more lets the requests of one go of the host reach the server in one go, and the
// answers that they get at once likewise.
func (s *Stdio) more(more bool) {
	s.out.Hold(more)
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
	case err != nil && len(wire.Elements(line)) > 0:
		s.refuse(nil, wire.Errorf(wire.CodeInvalidRequest, "A batch: only revision 2025-03-26 has them. Send one message a line."))
	case err != nil:
		s.refuse(m.ID(), wire.Errorf(wire.CodeInvalidRequest, "%v", err))
	default:
		s.trace("from host", line)
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
		if wire.IsObject(element) {
			s.line(element)
		} else { // a batch in it would cost a look at the whole line for each level
			s.refuse(nil, wire.Errorf(wire.CodeInvalidRequest, "An element of a batch is no message."))
		}
	}
	return true
}

func (s *Stdio) refuse(id []byte, err *wire.Error) {
	s.Log.Warn().Int("code", err.Code).Err(err).Msg("refused a message of the host")
	s.send(wire.Failure(id, err))
}

func refusedLength(e *wire.TooLongError) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInvalidRequest,
		Message: fmt.Sprintf("Refused: %v. It was not sent on; raise limits.message_bytes or send less.", e),
		Data:    map[string]any{"reason": "too_large", "outcome": upstream.NotDispatched, "limit": e.Limit},
	}
}
