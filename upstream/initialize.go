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
	params := c.opts.Hello.Params
	if params == nil {
		params = wire.Set(wire.Set(wire.Set(nil,
			"clientInfo", c.opts.Hello.Info),
			"capabilities", c.declared()),
			"protocolVersion", wire.Quote(newestInitialize))
	}
	m, err := k.call(c.ctx, "initialize", params)
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

// declared are the capabilities of the host without what only its own era has,
// and without those that lead to questions if nobody takes these.
func (c *Client) declared() []byte {
	return capabilitiesFor(Caller{Stateless: c.opts.Handler.Request != nil, Capabilities: wire.Delete(c.opts.Hello.Capabilities, "tasks")})
}

// greetingLost: what died during its greeting has not seen any request.
func greetingLost(err error) error {
	if e, ok := err.(*Error); ok && e.Reason == "upstream_exited" {
		return errHandshakeLost(e)
	}
	return err
}

// initializeRequest is the text of a request for a server of the initialize
// era. A request of a stateless-era host loses what only that era knows, and
// the task parameter, which means nothing there (Tasks extension, Capability
// Negotiation) but would make a task here.
func initializeRequest(r *Request, id []byte) wire.Message {
	params := r.Message.Params()
	if r.Caller.Stateless && r.Message.Method() == "tools/call" {
		params = wire.Delete(params, "task")
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
