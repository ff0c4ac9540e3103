package upstream

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Listen is one wish to hear of changes, in the words of the stateless era
// (revision 2026-07-28, Subscriptions). It outlives the server's restarts.
type Listen struct {
	// Filter is the notifications member of subscriptions/listen: raw JSON.
	Filter []byte
	Caller Caller
	// Header is what the listener forwards over HTTP, as in [Request].
	Header http.Header
	// Notify takes the notifications, without a subscription id. They may
	// begin before Client.Listen has returned. It runs on the goroutine that
	// reads from the server.
	Notify func(wire.Message)
	// Ended says that the server itself ended the subscription, or did not
	// take it up again after a restart.
	Ended func()

	// Under Client.mu.
	gone    bool
	opening bool          // somebody is at it: Listen, or a goroutine of ours
	moved   chan struct{} // closed when there is another session than the one it is being opened on
	cut     bool          // its stream has been cut while it was being opened
	uris    []string      // those of its resources that count in Client.watched
	request *Request      // the newest request, towards a server of the stateless era
}

// Listen connects, begins to feed l and returns the part of the filter that
// the server agreed to. The error is an [*Error], a [*RefusedListen] or the
// cause of ctx; then l is not fed.
func (c *Client) Listen(ctx context.Context, l *Listen) (accepted []byte, err error) {
	if l.Header != nil {
		c.Forward(l.Header)
	}
	if _, err := c.Connect(ctx); err != nil {
		return nil, err
	}
	if !c.register(l) {
		return nil, errGone()
	}
	accepted, err = c.establish(ctx, l)
	if err != nil {
		c.Unlisten(l)
	}
	return accepted, err
}

// register returns false where nobody is there to listen any more.
func (c *Client) register(l *Listen) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.gone {
		return false
	}
	c.listens[l], l.opening = true, true
	return true
}

// maxMoves is how many sessions may come and go while a subscription is opened.
const maxMoves = 5

// establish opens l on whatever session there is, and anew if that is followed
// by another meanwhile, which may be of the other era. One goroutine at a time
// does so: the one that set l.opening.
func (c *Client) establish(ctx context.Context, l *Listen) (accepted []byte, err error) {
	for range maxMoves {
		if _, err = c.Connect(ctx); err != nil {
			return nil, err
		}
		k, gone := c.aim(l)
		switch {
		case gone:
			return nil, errGone()
		case k == nil:
			continue // it is lost already
		case k.era() == Stateless:
			accepted, err = c.listenStateless(ctx, k, l)
		default:
			accepted, err = c.listenInitialize(ctx, k, l)
		}
		if c.stands(k, l, err) {
			return accepted, err
		}
	}
	return nil, errGone()
}

// aim returns the connection that l is to be opened on, nil for none.
func (c *Client) aim(l *Listen) (k *conn, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.moved, l.cut = make(chan struct{}), false
	return c.conn, l.gone
}

// stands reports whether what was done on k counts, because no other session
// has begun meanwhile. Where it was a success, l is open.
func (c *Client) stands(k *conn, l *Listen, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.last != k, errors.Is(err, errMoved):
		return false
	case err == nil && l.cut:
		c.work.Go(func() { c.keepListening(l) })
	case err == nil:
		l.opening = false
	}
	return true
}

// Unlisten ends what Listen began or is about to begin.
func (c *Client) Unlisten(l *Listen) {
	c.mu.Lock()
	l.gone = true
	delete(c.listens, l)
	c.idle.touch()
	unwatched := c.uncountLocked(l, l.uris)
	k, request := c.conn, l.request
	c.mu.Unlock()
	if request != nil {
		c.Cancel(request, wire.Notification("notifications/cancelled", nil))
	}
	if k != nil && k.era() == Initialize {
		k.unsubscribe(unwatched)
	}
}
