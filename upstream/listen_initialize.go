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
	capabilities := k.desc.Capabilities()
	for _, change := range listChanges {
		if wanted := wire.Get(l.Filter, change.filter); string(wanted) == "true" &&
			string(wire.Lookup(capabilities, change.capability, "listChanged")) == "true" {
			agreed = wire.Set(agreed, change.filter, wanted)
		}
	}
	if len(l.uris) == 0 || string(wire.Lookup(capabilities, "resources", "subscribe")) != "true" {
		return agreed, nil
	}
	uris, err := c.watch(ctx, k, l.uris)
	if len(uris) > 0 {
		agreed = wire.Set(agreed, "resourceSubscriptions", uris)
	}
	return agreed, err
}

// watch subscribes to those resources that nobody had asked for yet, and
// returns the ones that the server took, as a JSON array.
func (c *Client) watch(ctx context.Context, k *conn, uris []string) ([]byte, error) {
	var taken [][]byte
	for _, uri := range uris {
		ok, err := c.watchOne(ctx, k, uri)
		if err != nil {
			return nil, err
		}
		if ok {
			taken = append(taken, wire.Quote(uri))
		}
	}
	return wire.Array(taken), nil
}

func (c *Client) watchOne(ctx context.Context, k *conn, uri string) (bool, error) {
	c.mu.Lock()
	c.watched[uri]++
	first := c.watched[uri] == 1
	c.mu.Unlock()
	if !first {
		return true, nil
	}
	m, err := k.call(ctx, "resources/subscribe", wire.Set(nil, "uri", wire.Quote(uri)))
	if err == nil && m.Err() != nil {
		c.opts.Log.Info().Str("uri", uri).Bytes("error", m.Err()).Msg("the upstream server refused to watch a resource")
		return false, nil
	}
	return err == nil, err
}

func (c *Client) unwatch(k *conn, uris []string) {
	for _, uri := range uris {
		c.mu.Lock()
		c.watched[uri]--
		last := c.watched[uri] == 0
		if last {
			delete(c.watched, uri)
		}
		c.mu.Unlock()
		if last {
			k.start("resources/unsubscribe", wire.Set(nil, "uri", wire.Quote(uri)))
		}
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
