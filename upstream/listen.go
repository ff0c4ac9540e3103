package upstream

import (
	"context"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Listen is one wish to hear of changes, in the words of the stateless era
// (revision 2026-07-28, Subscriptions). It outlives the server's restarts.
type Listen struct {
	// Filter is the notifications member of subscriptions/listen: raw JSON.
	Filter []byte
	Caller Caller
	// Notify takes the notifications, without a subscription id. They may
	// begin before Client.Listen has returned. It runs on the goroutine that
	// reads from the server.
	Notify func(wire.Message)
	// Ended says that the server itself ended the subscription, in good order.
	Ended func()

	uris    []string
	request *Request // the open request, towards a server of the stateless era
}

// Listen connects, begins to feed l and returns the part of the filter that
// the server agreed to. The error is an [*Error], a [*RefusedListen] or the
// cause of ctx.
func (c *Client) Listen(ctx context.Context, l *Listen) (accepted []byte, err error) {
	desc, err := c.Connect(ctx)
	if err != nil {
		return nil, err
	}
	l.uris = stringsOf(wire.Get(l.Filter, "resourceSubscriptions"))
	c.mu.Lock()
	c.listens[l] = true
	k := c.conn
	c.mu.Unlock()
	if k == nil {
		return nil, errHandshake("The upstream server ended before the subscription was open.")
	}
	if desc.Era == Stateless {
		return c.listenStateless(ctx, l)
	}
	return c.listenInitialize(ctx, k, l)
}

// Unlisten ends what Listen began, whatever became of it.
func (c *Client) Unlisten(l *Listen) {
	c.mu.Lock()
	known := c.listens[l]
	delete(c.listens, l)
	k, request := c.conn, l.request
	c.mu.Unlock()
	switch {
	case !known:
	case request != nil:
		c.Cancel(request, wire.Notification("notifications/cancelled", nil))
	case k != nil:
		c.unwatch(k, l.uris)
	}
}

// reopenListens tells a new run of the server what is listened to.
func (c *Client) reopenListens(k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.listens {
		if k.desc.Era == Stateless {
			c.work.Go(func() { c.listenStateless(c.ctx, l) })
		}
	}
	for uri := range c.watched {
		k.start("resources/subscribe", wire.Set(nil, "uri", wire.Quote(uri)))
	}
}
