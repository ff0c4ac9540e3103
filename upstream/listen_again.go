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

// relisten takes a subscription up again whose stream was cut although the
// session goes on, as happens over HTTP. Where the session has ended too, the
// next one does that.
func (c *Client) relisten(l *Listen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opts.URL != "" && c.wantedLocked(l) {
		c.work.Go(func() { c.keepListening(l) })
	}
}

func (c *Client) wantedLocked(l *Listen) bool { return !c.closed && !l.gone && c.conn != nil }

func (c *Client) wanted(l *Listen) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wantedLocked(l)
}

func (c *Client) keepListening(l *Listen) {
	for wait := firstRelisten; pause(c.ctx, wait) && c.wanted(l); wait = min(2*wait, longestRelisten) {
		accepted, err := c.listenStateless(c.ctx, l)
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
