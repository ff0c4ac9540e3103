package upstream

import (
	"errors"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

const (
	firstRelisten   = time.Second
	longestRelisten = 30 * time.Second
)

// resubscribe tells a new run of the server what is listened to. Requests that
// the former one still has open are taken back: every change would come twice.
func (c *Client) resubscribe(k *conn) {
	again, former, uris := c.moveListens(k.era())
	for _, r := range former {
		c.Cancel(r, wire.Notification("notifications/cancelled", nil))
	}
	if k.era() == Initialize {
		k.subscribe(uris)
	}
	for _, l := range again {
		c.work.Go(func() {
			if _, err := c.establish(c.ctx, l); err != nil {
				l.Ended()
			}
		})
	}
}

// moveListens returns those that are to be opened again, the requests that they
// had, and the resources that are subscribed to. Whoever is about to open one
// is told to begin anew. A server of the initialize era sends list changes
// unasked: there only what the stateless era has agreed on is opened again.
func (c *Client) moveListens(era Era) (again []*Listen, former []*Request, uris []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.listens {
		if !l.opening && (era == Stateless || l.request != nil) {
			l.opening = true
			again = append(again, l)
		} else if l.moved != nil {
			close(l.moved)
		}
		if l.request != nil {
			former = append(former, l.request)
		}
		l.moved, l.request = nil, nil
	}
	for uri := range c.watched {
		uris = append(uris, uri)
	}
	return again, former, uris
}

// relisten takes a subscription up again whose stream, the one of r, was cut
// although the session goes on, as happens over HTTP. Where the session has
// ended too, the next one does that.
func (c *Client) relisten(l *Listen, r *Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.opts.URL == "" || l.request != r:
	case l.opening:
		l.cut = true
	case !c.closed && !l.gone && c.conn != nil:
		l.opening = true
		c.work.Go(func() { c.keepListening(l) })
	}
}

// isCurrent reports whether l has not been given another request than r.
func (c *Client) isCurrent(l *Listen, r *Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return l.request == r
}

// wanted reports whether l is still to be opened by the one who asks; where no
// session is there or on its way, the next one will do that.
func (c *Client) wanted(l *Listen) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.opening = !c.closed && !l.gone && (c.conn != nil || c.trying != nil)
	return l.opening
}

func (c *Client) keepListening(l *Listen) {
	for wait := firstRelisten; pause(c.ctx, wait) && c.wanted(l); wait = min(2*wait, longestRelisten) {
		accepted, err := c.establish(c.ctx, l)
		var refused *RefusedListen
		switch {
		case err == nil:
			l.missed(accepted)
			return
		case errors.As(err, &refused):
			l.Ended()
			return
		}
	}
}

// missed tells the listener that there may have been changes while nobody
// listened: to look in vain does no harm.
func (l *Listen) missed(accepted []byte) {
	for method, change := range listChanges {
		if string(wire.Get(accepted, change.filter)) == "true" {
			l.Notify(wire.Notification(method, nil))
		}
	}
	for _, uri := range wire.Elements(wire.Get(accepted, "resourceSubscriptions")) {
		l.Notify(wire.Notification("notifications/resources/updated", wire.Set(nil, "uri", uri)))
	}
}
