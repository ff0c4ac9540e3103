package upstream

import (
	"context"
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
	uris    []string // those of its resources that count in Client.watched
	request *Request // the open request, towards a server of the stateless era
}

// Listen connects, begins to feed l and returns the part of the filter that
// the server agreed to. The error is an [*Error], a [*RefusedListen] or the
// cause of ctx; then l is not fed.
func (c *Client) Listen(ctx context.Context, l *Listen) (accepted []byte, err error) {
	if l.Header != nil {
		c.Forward(l.Header)
	}
	desc, err := c.Connect(ctx)
	if err != nil {
		return nil, err
	}
	k := c.register(l)
	switch {
	case k == nil:
		return nil, errGone()
	case desc.Era == Stateless:
		accepted, err = c.listenStateless(ctx, l)
	default:
		accepted, err = c.listenInitialize(ctx, k, l)
	}
	if err != nil {
		c.Unlisten(l)
	}
	return accepted, err
}

// register returns nil where there is nothing to listen to, or nobody to listen
// any more.
func (c *Client) register(l *Listen) *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.gone || c.conn == nil {
		return nil
	}
	c.listens[l] = true
	return c.conn
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
	if k != nil {
		k.unsubscribe(unwatched)
	}
}

// resubscribe tells a new run of the server what is listened to.
func (c *Client) resubscribe(k *conn) {
	c.mu.Lock()
	var listens []*Listen
	for l := range c.listens {
		listens = append(listens, l)
	}
	var uris []string
	for uri := range c.watched {
		uris = append(uris, uri)
	}
	c.mu.Unlock()
	if k.era() == Initialize {
		k.subscribe(uris)
		return
	}
	for _, l := range listens {
		c.work.Go(func() {
			if _, err := c.listenStateless(c.ctx, l); err != nil {
				l.Ended()
			}
		})
	}
}
