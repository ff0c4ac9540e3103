package upstream

import (
	"context"
	"slices"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// listenInitialize subscribes to the resources; list changes come by
// themselves. What the server has no capability for is not agreed to.
func (c *Client) listenInitialize(ctx context.Context, k *conn, l *Listen) ([]byte, error) {
	agreed := []byte("{}")
	capabilities := k.greeted.Load().Capabilities
	for _, change := range listChanges {
		if wanted := wire.Get(l.Filter, change.filter); string(wanted) == "true" &&
			string(wire.Lookup(capabilities, change.capability, "listChanged")) == "true" {
			agreed = wire.Set(agreed, change.filter, wanted)
		}
	}
	uris := stringsOf(wire.Get(l.Filter, "resourceSubscriptions"))
	if len(uris) == 0 || string(wire.Lookup(capabilities, "resources", "subscribe")) != "true" {
		return agreed, nil
	}
	taken, err := c.watch(ctx, k, l, uris)
	if len(taken) > 0 {
		agreed = wire.Set(agreed, "resourceSubscriptions", wire.Array(taken))
	}
	return agreed, err
}

// watch subscribes to those resources that nobody had asked for yet, and
// returns the ones that the server took.
func (c *Client) watch(ctx context.Context, k *conn, l *Listen, uris []string) (taken [][]byte, err error) {
	for _, uri := range uris {
		ok, err := c.watchOne(ctx, k, l, uri)
		if err != nil {
			return nil, err
		}
		if ok {
			taken = append(taken, wire.Quote(uri))
		}
	}
	return taken, nil
}

func (c *Client) watchOne(ctx context.Context, k *conn, l *Listen, uri string) (bool, error) {
	first, err := c.count(l, uri)
	if !first || err != nil {
		return err == nil, err
	}
	m, err := k.call(ctx, "resources/subscribe", wire.Set(nil, "uri", wire.Quote(uri)))
	if err == nil && m.Err() == nil {
		return true, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uncountLocked(l, []string{uri})
	return false, err
}

// count notes that l wants a resource, and reports whether it is the first.
func (c *Client) count(l *Listen, uri string) (first bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.gone {
		return false, errGone()
	}
	l.uris = append(l.uris, uri)
	c.watched[uri]++
	return c.watched[uri] == 1, nil
}

// uncountLocked undoes count and returns the resources that nobody wants any
// more.
func (c *Client) uncountLocked(l *Listen, uris []string) (unwanted []string) {
	for _, uri := range slices.Clone(uris) {
		i := slices.Index(l.uris, uri)
		if i < 0 {
			continue
		}
		l.uris = slices.Delete(l.uris, i, i+1)
		if c.watched[uri]--; c.watched[uri] == 0 {
			delete(c.watched, uri)
			unwanted = append(unwanted, uri)
		}
	}
	return unwanted
}

func (k *conn) subscribe(uris []string) {
	for _, uri := range uris {
		k.start("resources/subscribe", wire.Set(nil, "uri", wire.Quote(uri)))
	}
}

func (k *conn) unsubscribe(uris []string) {
	for _, uri := range uris {
		k.start("resources/unsubscribe", wire.Set(nil, "uri", wire.Quote(uri)))
	}
}

// publish hands a change notification of a server of the initialize era, which
// sends them unasked, to the listens that asked.
func (c *Client) publish(m wire.Message) {
	c.mu.Lock()
	var takers []*Listen
	for l := range c.listens {
		if l.wants(m) {
			takers = append(takers, l)
		}
	}
	c.mu.Unlock()
	for _, l := range takers {
		l.Notify(m)
	}
}

// listChanges maps each list notification to the filter member that asks for
// it and to the server's capability.
var listChanges = map[string]struct{ filter, capability string }{
	"notifications/tools/list_changed":     {"toolsListChanged", "tools"},
	"notifications/prompts/list_changed":   {"promptsListChanged", "prompts"},
	"notifications/resources/list_changed": {"resourcesListChanged", "resources"},
}

func (l *Listen) wants(m wire.Message) bool {
	if m.Method() == "notifications/resources/updated" {
		uri, _ := wire.String(wire.Get(m.Params(), "uri"))
		return slices.Contains(l.uris, uri)
	}
	change, ok := listChanges[m.Method()]
	return ok && string(wire.Get(l.Filter, change.filter)) == "true"
}
