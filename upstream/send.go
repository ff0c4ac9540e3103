package upstream

import (
	"net/http"
	"slices"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Send forwards a request. It returns at once; r.Reply is called once, unless
// [Client.Cancel] takes the request back. Requests of one goroutine reach a
// child process in order; over HTTP each goes its own way, and any may be
// first.
func (c *Client) Send(r *Request) {
	c.mu.Lock()
	if r.Header != nil {
		c.header = r.Header
	}
	k, refused := c.acceptLocked(r)
	c.mu.Unlock()
	c.dispatch(r, k, refused)
}

func (c *Client) dispatch(r *Request, k *conn, refused *Error) {
	switch {
	case refused != nil:
		r.Reply(wire.Message{}, refused)
	case k != nil:
		k.write(r, k.outgoing(r))
	}
}

// maxWaiting bounds what waits for a server that is starting.
const maxWaiting = 1024

// acceptLocked returns the connection on which r is to be written; none if it
// waits, or has been taken back already.
func (c *Client) acceptLocked(r *Request) (*conn, *Error) {
	k := c.conn
	switch {
	case r.withdrawn:
		return nil, nil
	case c.closed:
		return nil, errClosed().with(NotDispatched)
	case k == nil && len(c.waiting) >= maxWaiting:
		return nil, errWaiting()
	case k == nil:
		c.waiting = append(c.waiting, r)
		c.connectLocked()
	default:
		k.enlistLocked(r)
	}
	return k, nil
}

// Cancel takes r back: its Reply is not called any more, unless that has
// begun, in which case Cancel returns false. If the server has the request it
// is told so by notice, a notifications/cancelled whose requestId is replaced.
func (c *Client) Cancel(r *Request, notice wire.Message) bool {
	taken, _ := c.TakeBack(r, notice)
	return taken
}

// TakeBack is Cancel, and says what is known of the work: [NotDispatched] where
// nothing of r was written to the server, and never will be, else [Unknown].
func (c *Client) TakeBack(r *Request, notice wire.Message) (taken bool, work Outcome) {
	c.mu.Lock()
	if c.unqueueLocked(r) {
		c.mu.Unlock()
		return true, NotDispatched
	}
	k := r.conn
	if k == nil {
		taken = c.withdrawLocked(r)
		c.mu.Unlock()
		if taken && r.follow != nil {
			r.follow.cancel()
		}
		return taken, workIf(r.follow != nil)
	}
	taken = k.takeBackLocked(r)
	c.mu.Unlock()
	written := true
	if taken {
		k.rehome()
		written = k.cancelled(r, notice)
	}
	return taken, workIf(written)
}

func workIf(written bool) Outcome {
	if written {
		return Unknown
	}
	return NotDispatched
}

// withdrawLocked takes r back that is on no session.
func (c *Client) withdrawLocked(r *Request) bool {
	r.withdrawn = true
	switch {
	case r.follow == nil:
		return true
	case r.follow.over:
		return false
	}
	r.follow.overLocked()
	return true
}

// Recall takes r back if it still waits for the server to start: then it has
// not been sent, and can be given to Send again.
func (c *Client) Recall(r *Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unqueueLocked(r)
}

func (c *Client) unqueueLocked(r *Request) bool {
	i := slices.Index(c.waiting, r)
	if i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		c.idle.touch()
	}
	return i >= 0
}

// Notify forwards a notification, if there is a server to take it, or one is
// being started: one that is not running has no use for any. It arrives before
// the requests and notifications that the same goroutine sends later, over HTTP
// too; behind those sent earlier only at a child process.
func (c *Client) Notify(m wire.Message) {
	c.mu.Lock()
	k := c.conn
	if k == nil && c.trying != nil && len(c.waiting) < maxWaiting {
		c.waiting = append(c.waiting, &Request{Message: m})
	}
	c.mu.Unlock()
	if k != nil {
		k.notify(m)
	}
}

// again sends r once more, on a new session: the one on which it was to go, or
// on which it was refused, is gone.
func (c *Client) again(k *conn, r *Request) {
	c.mu.Lock()
	if k.takeLocked(r.id) == nil {
		c.mu.Unlock()
		return
	}
	r.conn, r.written, r.repeated = nil, false, true
	r.levelled, r.since = false, time.Time{}
	next, refused := c.acceptLocked(r)
	c.mu.Unlock()
	c.dispatch(r, next, refused)
}

// Forward sets what goes with the session's own HTTP requests until a
// [Request] brings headers of its own: for a caller that connects or listens
// before it sends.
func (c *Client) Forward(header http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = header
}

// forwarded is what the session's own requests forward.
func (c *Client) forwarded() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header
}
