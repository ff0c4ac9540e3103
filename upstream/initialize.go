package upstream

import (
	"bytes"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// newestInitialize is the version that we ask for on our own account, the
// newest one that opens with initialize.
const newestInitialize = "2025-11-25"

// initialize opens the session (revision 2025-11-25, Lifecycle,
// Initialization) with the host's own words, or ours. The host's own
// notifications/initialized follows the first time; later times it is ours.
func (c *Client) initialize(k *conn) (Description, error) {
	m, err := k.call(c.ctx, "initialize", c.opening(k))
	if err != nil {
		return Description{}, greetingLost(err)
	}
	if m.Err() != nil {
		return Description{}, refusal("initialize", m.Err())
	}
	if _, again := c.Describe(); again || c.opts.Hello.Params == nil {
		k.notify(wire.Notification("notifications/initialized", nil))
	}
	return describe(Initialize, m), nil
}

// opening are the params of initialize on k.
func (c *Client) opening(k *conn) []byte {
	if params := c.opts.Hello.Params; params != nil {
		return params
	}
	capabilities, state := c.declared()
	c.mu.Lock()
	k.declared = state
	c.mu.Unlock()
	return wire.Set(wire.Set(wire.Set(nil,
		"clientInfo", c.opts.Hello.Info),
		"capabilities", capabilities),
		"protocolVersion", wire.Quote(newestInitialize))
}

// greetingLost: what died during its greeting has not seen any request.
func greetingLost(err error) error {
	if e, ok := err.(*Error); ok && e.Reason == "upstream_exited" {
		return errHandshakeLost(e)
	}
	return err
}

// initializeRequest is the text of a request for a server of the initialize
// era. A request of a stateless-era host loses what only that era knows.
func initializeRequest(r *Request, id []byte) wire.Message {
	params := r.Message.Params()
	if r.Caller.Stateless {
		params = wire.Delete(params, foreignParams[r.Message.Method()]...)
	}
	meta := wire.Get(params, "_meta")
	adapted := meta
	if r.Caller.Stateless {
		adapted = wire.Delete(adapted, metaVersion, metaInfo, metaCapabilities, metaLogLevel)
	}
	if r.Notify != nil {
		adapted = wire.Set(adapted, "progressToken", id)
	}
	return r.Message.With(wire.Changes{ID: id, Params: withMeta(params, meta, adapted)})
}

// foreignParams are those of the stateless era that mean nothing here (revision
// 2026-07-28, Multi Round-Trip Requests); and the task parameter, which means
// nothing there (Tasks extension, Capability Negotiation) but would make a task
// here.
var foreignParams = map[string][]string{
	"tools/call":     {"task", "inputResponses", "requestState"},
	"prompts/get":    {"inputResponses", "requestState"},
	"resources/read": {"inputResponses", "requestState"},
}

// withMeta puts the adapted _meta in the place of the former one, and leaves it
// out if nothing is left of it.
func withMeta(params, meta, adapted []byte) []byte {
	switch {
	case bytes.Equal(meta, adapted):
		return params
	case string(adapted) == "{}":
		return wire.Delete(params, "_meta")
	}
	return wire.Set(params, "_meta", adapted)
}

// stripStatelessMeta removes the per-request keys of the stateless era.
func stripStatelessMeta(params []byte) []byte {
	return wire.DeleteIn(params, "_meta", metaVersion, metaInfo, metaCapabilities, metaLogLevel)
}
