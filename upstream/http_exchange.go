package upstream

import (
	"context"
	"strings"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// exchange is one request on its way and the answer to it.
type exchange struct {
	posts   *posts
	request *Request
	message wire.Message
	ctx     context.Context
	cancel  context.CancelFunc
	after   <-chan struct{} // the notification that has to arrive before it

	// Of the exchange's own goroutine.
	session string // that it was sent on
	asked   bool   // twice, as the server wanted
	lingers *time.Timer

	// Under posts.mu.
	unsent int
	seen   bool         // the server may have it
	notice wire.Message // posted at the end, if the server has seen it
}

func (x *exchange) run(converse func(*exchange) *Error) {
	defer x.release()
	reason := x.inTurn()
	if reason == nil {
		reason = converse(x)
	}
	notice := x.posts.finish(x, reason)
	if reason != nil {
		if x.posts.ctx.Err() != nil {
			reason = errClosed().with(reason.Outcome)
		}
		x.posts.try(x, reason.plainText)
		x.posts.conn.fail(x.request, reason)
	}
	if notice.Raw() != nil {
		x.posts.conn.told(x.posts.tell(notice, false), notice)
	}
}

func (x *exchange) release() {
	x.cancel()
	if x.lingers != nil {
		x.lingers.Stop()
	}
}

// inTurn waits for the notifications that were sent before.
func (x *exchange) inTurn() *Error {
	if x.after == nil {
		return nil
	}
	select {
	case <-x.after:
		return nil
	case <-x.ctx.Done():
		return errClosed().with(NotDispatched)
	}
}

// wrote runs when the request has been written.
func (x *exchange) wrote() {
	x.posts.mu.Lock()
	defer x.posts.mu.Unlock()
	x.seen = true
	x.posts.unsent -= x.unsent
	x.unsent = 0
}

// finish returns what the server is still to be told of the exchange.
func (p *posts) finish(x *exchange, reason *Error) (notice wire.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, x.request)
	p.unsent -= x.unsent
	x.unsent = 0
	if x.seen || reason == nil || reason.Outcome != NotDispatched {
		return x.notice
	}
	return wire.Message{}
}

// open reports whether somebody still waits for the answer.
func (x *exchange) open() bool { return x.posts.conn.awaits(x.request) }

// try notes what came of a request before the server was greeted.
func (p *posts) try(x *exchange, what func() string) {
	if p.conn.greeted.Load() != nil {
		return
	}
	said := strings.TrimPrefix(what(), "The upstream server at "+place(p.http.endpoint)+" ")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn.greeted.Load() == nil && len(p.tried) < maxTried {
		p.tried = append(p.tried, x.message.Method()+": "+strings.TrimSuffix(said, "."))
	}
}
