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
	m, err := k.call(c.ctx, "server/discover", c.stamp(nil, c.caller(), false))
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
func (c *Client) caller() Caller {
	if params := c.opts.Hello.Params; params != nil {
		return Caller{Info: wire.Get(params, "clientInfo"), Capabilities: wire.Get(params, "capabilities")}
	}
	capabilities, _ := c.declared()
	return Caller{Stateless: true, Info: c.opts.Hello.Info, Capabilities: capabilities}
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
// Tasks says that the server may answer with one.
func (c *Client) statelessRequest(r *Request, id []byte, tasks bool) wire.Message {
	params := c.stamp(r.Message.Params(), r.Caller, tasks)
	if r.Notify != nil {
		params = wire.Set(params, "_meta", wire.Set(wire.Get(params, "_meta"), "progressToken", id))
	}
	return r.Message.With(wire.Changes{ID: id, Params: params})
}

// stamp makes params stand by themselves: version, identity and capabilities
// with every request. What a host of the same era has said stays in its place.
func (c *Client) stamp(params []byte, caller Caller, tasks bool) []byte {
	capabilities := c.capabilitiesFor(caller, tasks)
	meta := wire.Get(params, "_meta")
	if wire.Get(meta, metaVersion) != nil {
		return wire.Set(params, "_meta", wire.Set(meta, metaCapabilities, capabilities))
	}
	meta = wire.Delete(meta, metaVersion, metaInfo, metaCapabilities, metaLogLevel)
	if caller.LogLevel != nil {
		meta = wire.Prepend(meta, metaLogLevel, caller.LogLevel)
	}
	meta = wire.Prepend(meta, metaCapabilities, capabilities)
	if caller.Info != nil {
		meta = wire.Prepend(meta, metaInfo, caller.Info)
	}
	meta = wire.Prepend(meta, metaVersion, wire.Quote(version))
	return wire.Set(params, "_meta", meta)
}

// capabilitiesFor are the caller's own, for a server of the stateless era: what
// it asks in that era's way can be put to a host of either. There is no notice
// of changed roots any more.
func (c *Client) capabilitiesFor(caller Caller, tasks bool) []byte {
	capabilities := c.allowed(caller.Capabilities)
	if roots := wire.Get(capabilities, "roots"); !caller.Stateless && wire.Get(roots, "listChanged") != nil {
		capabilities = wire.Set(capabilities, "roots", wire.Delete(roots, "listChanged"))
	}
	if !tasks {
		return capabilities
	}
	return wire.Set(capabilities, "extensions", wire.Set(wire.Get(capabilities, "extensions"), tasksExtension, []byte("{}")))
}

// allowed leaves out tasks of both kinds, so that the server makes none that the
// host would have to follow; unless that is what is wanted.
func (c *Client) allowed(capabilities []byte) []byte {
	switch {
	case capabilities == nil:
		return []byte("{}")
	case c.opts.Passthrough:
		return capabilities
	}
	return wire.DeleteIn(wire.Delete(capabilities, "tasks"), "extensions", tasksExtension)
}
