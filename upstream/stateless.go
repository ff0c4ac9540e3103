package upstream

import (
	"slices"
	"strconv"

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
	m, err := k.call(c.ctx, "server/discover", discoverParams(c.opts.Hello.Info))
	if err != nil {
		return Description{}, greetingLost(err)
	}
	desc, modern, err := discovered(m)
	if !modern {
		return Description{}, &refusedError{"server/discover", m.Raw()}
	}
	return desc, err
}

func discoverParams(info []byte) []byte {
	return stamp(nil, Caller{Info: info})
}

// discovered reads the answer to server/discover. Modern is true for a result
// of discovery and for the errors that only servers of this era give; of those
// the one that names a version of ours in its list cannot occur.
func discovered(m wire.Message) (desc Description, modern bool, err error) {
	supported := wire.Lookup(m.Result(), "supportedVersions")
	if m.Err() != nil {
		if code := string(wire.Get(m.Err(), "code")); code != strconv.Itoa(wire.CodeUnsupportedVersion) {
			return desc, false, nil
		}
		supported = wire.Lookup(m.Err(), "data", "supported")
	}
	versions := stringsOf(supported)
	if m.Result() != nil && slices.Contains(versions, version) {
		return Description{Era: Stateless, Result: m.Result(), Response: m}, true, nil
	}
	if len(versions) == 0 || slices.ContainsFunc(versions, func(v string) bool { return v <= newestInitialize }) {
		return desc, false, nil // it can be spoken to, with initialize
	}
	return desc, true, errHandshake("The upstream server speaks only revisions %q, none of which this proxy knows.", versions)
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
func statelessRequest(r *Request, id []byte) []byte {
	params := stamp(r.Message.Params(), r.Caller)
	if r.Notify != nil {
		params = setMeta(params, "progressToken", id)
	}
	return r.Message.Rewrite(wire.Changes{ID: id, Params: params})
}

// stamp makes params stand by themselves: version, identity and capabilities
// with every request.
func stamp(params []byte, caller Caller) []byte {
	meta := wire.Delete(wire.Get(params, "_meta"), metaVersion, metaInfo, metaCapabilities, metaLogLevel)
	if caller.LogLevel != nil {
		meta = wire.Set(meta, metaLogLevel, caller.LogLevel)
	}
	meta = wire.Set(meta, metaCapabilities, capabilitiesFor(caller))
	if caller.Info != nil {
		meta = wire.Set(meta, metaInfo, caller.Info)
	}
	meta = wire.Set(meta, metaVersion, wire.Quote(version))
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
	extensions := wire.Get(capabilities, "extensions")
	without := wire.Delete(extensions, tasksExtension)
	switch {
	case len(without) == len(extensions):
		return capabilities
	case string(without) == "{}":
		return wire.Delete(capabilities, "extensions")
	}
	return wire.Set(capabilities, "extensions", without)
}
