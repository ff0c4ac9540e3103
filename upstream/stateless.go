package upstream

import (
	"slices"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// version is the revision spoken to servers of the stateless era.
const version = "2026-07-28"

// Keys of _meta (revision 2026-07-28, Base Protocol, _meta).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaInfo         = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

const tasksExtension = "io.modelcontextprotocol/tasks"

// discover opens nothing, there is nothing to open: it asks what the server
// is (revision 2026-07-28, Discovery).
func (c *Client) discover(k *conn) (Description, error) {
	m, err := k.call(c.ctx, "server/discover", stamp(nil, c.opts.Hello.caller()))
	if err != nil {
		return Description{}, greetingLost(err)
	}
	desc, modern, err := discovered(answer{message: m})
	if !modern {
		return Description{}, refusal("server/discover", m.Err())
	}
	return desc, err
}

// caller is the host as it is known before its first request.
func (h Hello) caller() Caller {
	if h.Params == nil {
		return Caller{Stateless: true, Info: h.Info, Capabilities: h.Capabilities}
	}
	return Caller{Info: h.Info, Capabilities: wire.Get(h.Params, "capabilities")}
}

// discovered reads the answer to server/discover. Modern is true for a result
// of discovery, and for the errors that only servers of this era give
// (revision 2026-07-28, stdio, Backward Compatibility).
func discovered(a answer) (desc Description, modern bool, err error) {
	if a.err != nil && a.err.Reason == "upstream_exited" {
		return desc, false, errDiedOfProbe
	}
	result, object := a.message.Result(), a.message.Err()
	supported := wire.Get(result, "supportedVersions")
	switch code := string(wire.Get(object, "code")); code {
	case "-32020", "-32021":
		return desc, true, refusal("server/discover", object)
	case "-32022":
		supported = wire.Lookup(object, "data", "supported")
	}
	versions := stringsOf(supported)
	if result != nil && slices.Contains(versions, version) {
		return describe(Stateless, a.message), true, nil
	}
	opensWithInitialize := func(v string) bool { return v <= newestInitialize }
	if len(versions) == 0 || slices.ContainsFunc(versions, opensWithInitialize) {
		return desc, false, nil
	}
	return desc, true, errHandshake("The upstream server speaks only revisions %.300q, none of which this proxy knows.", versions)
}

func stringsOf(array []byte) (list []string) {
	for _, e := range wire.Elements(array) {
		if s, ok := wire.String(e); ok {
			list = append(list, s)
		}
	}
	return list
}

// statelessRequest is the text of a request for a server of the stateless era.
func statelessRequest(r *Request, id []byte) wire.Message {
	params := stamp(r.Message.Params(), r.Caller)
	if r.Notify != nil {
		params = wire.Set(params, "_meta", wire.Set(wire.Get(params, "_meta"), "progressToken", id))
	}
	return r.Message.With(wire.Changes{ID: id, Params: params})
}

// stamp makes params stand by themselves: version, identity and capabilities
// with every request. What a host of the same era has said stays in its place.
func stamp(params []byte, caller Caller) []byte {
	meta := wire.Get(params, "_meta")
	if wire.Get(meta, metaVersion) != nil {
		return wire.Set(params, "_meta", wire.Set(meta, metaCapabilities, capabilitiesFor(caller)))
	}
	meta = wire.Delete(meta, metaVersion, metaInfo, metaCapabilities, metaLogLevel)
	if caller.LogLevel != nil {
		meta = wire.Prepend(meta, metaLogLevel, caller.LogLevel)
	}
	meta = wire.Prepend(meta, metaCapabilities, capabilitiesFor(caller))
	if caller.Info != nil {
		meta = wire.Prepend(meta, metaInfo, caller.Info)
	}
	meta = wire.Prepend(meta, metaVersion, wire.Quote(version))
	return wire.Set(params, "_meta", meta)
}

// capabilitiesFor leaves out the Tasks extension, so that the server makes no
// task of its own; and what a host of the initialize era would have to be
// asked by requests, which servers of this era do not send.
func capabilitiesFor(caller Caller) []byte {
	capabilities := caller.Capabilities
	if capabilities == nil {
		return []byte("{}")
	}
	if !caller.Stateless {
		capabilities = wire.Delete(capabilities, "elicitation", "sampling", "roots", "tasks")
	}
	return wire.DeleteIn(capabilities, "extensions", tasksExtension)
}
