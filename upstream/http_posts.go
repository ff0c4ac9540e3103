package upstream

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// posts is what both ways over HTTP share: every message leaves as a POST of
// its own, on a goroutine of its own. It keeps count of them and keeps what
// order there has to be.
type posts struct {
	conn *conn
	http *httpClient
	ctx  context.Context // of all that runs here; ends with stop or Client.Close
	end  context.CancelFunc
	work sync.WaitGroup
	post func(context.Context, wire.Message) *rebuff // of what wants no answer

	mu      sync.Mutex
	closed  bool // nothing begins any more
	running map[*Request]*exchange
	unsent  int           // bytes of those that are not written yet
	telling int           // notifications on their way
	told    chan struct{} // closed when the newest notification has arrived; nil for none
	tried   []string      // what came of the greeting, for people
	answers answerQueue
}

const (
	maxRunning = 4096
	maxUnsent  = 256 << 20
	maxTelling = 256
	tellLimit  = 10 * time.Second
	maxTried   = 8
	// lateOlder and lateExtension are how long the answer to a call that was taken
	// back is read.
	lateOlder     = 10 * time.Second
	lateExtension = 50 * time.Millisecond
)

var errSlow = errors.New("it takes too long to answer")

func newPosts(k *conn, h *httpClient) *posts {
	p := &posts{conn: k, http: h, running: map[*Request]*exchange{}}
	p.ctx, p.end = context.WithCancel(k.client.ctx)
	p.answers.fewer = sync.NewCond(&p.mu)
	return p
}

// start runs an exchange as converse does it.
func (p *posts) start(r *Request, m wire.Message, converse func(*exchange) *Error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := len(m.Raw())
	switch {
	case p.closed:
		return io.ErrClosedPipe
	case len(p.running) >= maxRunning || p.unsent > 0 && p.unsent+size > maxUnsent:
		return wire.ErrFull
	}
	x := &exchange{posts: p, request: r, message: m, after: p.told, unsent: size}
	x.ctx, x.cancel = context.WithCancel(p.ctx)
	p.running[r], p.unsent = x, p.unsent+size
	p.work.Go(func() { x.run(converse) })
	return nil
}

// drop ends the exchange of r. If the server has seen the request it gets the
// notice, if there is one. It reports whether the exchange was still running.
func (p *posts) drop(r *Request, notice wire.Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.running[r]
	if x != nil {
		x.notice = notice
		x.cancel()
	}
	return x != nil
}

// dropLate is drop for a call whose answer may be a task: the server is told at
// once, and its answer read for a moment longer. It returns false where the server
// cannot have seen the call.
func (p *posts) dropLate(r *Request, notice wire.Message) bool {
	p.mu.Lock()
	x := p.running[r]
	late := x != nil && x.seen
	p.mu.Unlock()
	if !late {
		return false
	}
	wait := lateOlder
	if notice.Raw() == nil { // the end of the stream is what tells the server
		wait = lateExtension
	} else {
		p.conn.told(p.tell(notice, false), notice)
	}
	time.AfterFunc(wait, x.cancel)
	return true
}

// tell posts a notification. What is ordered arrives, or fails, before
// anything that is sent later.
func (p *posts) tell(m wire.Message, ordered bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return io.ErrClosedPipe
	case p.telling >= maxTelling:
		return wire.ErrFull
	}
	before, arrived := p.told, make(chan struct{})
	if ordered {
		p.told = arrived
	} else {
		before = nil
	}
	p.telling++
	p.work.Go(func() {
		defer close(arrived)
		p.deliver(m, before)
	})
	return nil
}

func (p *posts) deliver(m wire.Message, before <-chan struct{}) {
	ctx, cancel := context.WithTimeoutCause(p.ctx, tellLimit, errSlow)
	defer cancel()
	if before != nil {
		<-before // not longer than its own limit
	}
	if no := p.post(ctx, m); no != nil && p.ctx.Err() == nil {
		p.conn.told(no.Error, m)
	}
	p.mu.Lock()
	p.telling--
	p.mu.Unlock()
}

// close lets nothing begin any more.
func (p *posts) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// linger has Close wait for what still runs on a session that has ended by
// itself. A client that is closed already waits for its newest link, which is
// the one.
func (c *Client) linger(p *posts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.work.Go(func() {
		p.work.Wait() // it is closed: only what runs can begin anything more
		p.end()
		p.http.transport.CloseIdleConnections()
	})
}
