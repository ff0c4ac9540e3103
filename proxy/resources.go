package proxy

import (
	"slices"
	"strconv"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Spills reports whether the result of a task may be handed over as a resource of
// ours. Hosts are to be told of resources then (revision 2026-07-28, Resources,
// Capabilities), or they may not read it.
func (p *Proxy) Spills() bool {
	l, all := p.opts.Limits, p.opts.Policies
	makes := func(t ToolPolicy) bool { return t.Policy.Task != Never }
	return l.LargeResults == Spill && l.ResultBytes > 0 && (all.Default.Task != Never || slices.ContainsFunc(all.Tools, makes))
}

// HasResources reports whether a server with these capabilities has resources of its
// own.
func HasResources(capabilities []byte) bool {
	return wire.IsObject(wire.Get(capabilities, "resources"))
}

// resourceMethods are what comes with the capability.
var resourceMethods = map[string]bool{"resources/list": true, "resources/templates/list": true, "resources/read": true}

// lacksResources says that a request is for resources of a server that has none. Of a
// server that was never greeted that is not known.
func (r *Request) lacksResources() bool {
	desc, known := r.Upstream.Describe()
	return known && !HasResources(desc.Capabilities)
}

// resourcesFor is a request for resources of a host that was told of them by us. A
// server that has none is not asked, as far as that is known already: it need not
// know these methods.
func (p *Proxy) resourcesFor(r *Request) (forward *Request, answered bool) {
	if !r.Resources || !resourceMethods[r.Message.Method()] {
		return r, false
	}
	if r.lacksResources() {
		r.Reply(noResources(r.Message))
		return nil, true
	}
	first := *r
	first.Reply = func(m wire.Message) bool {
		if string(wire.Get(m.Err(), "code")) == strconv.Itoa(wire.CodeMethodNotFound) && r.lacksResources() {
			m = noResources(r.Message)
		}
		return r.Reply(m)
	}
	return &first, false
}

// noResources answers for a server that has none: those of ours are known by their
// links alone, and read elsewhere.
func noResources(request wire.Message) wire.Message {
	switch request.Method() {
	case "resources/list":
		return wire.Result(noID, []byte(`{"resources":[]}`))
	case "resources/templates/list":
		return wire.Result(noID, []byte(`{"resourceTemplates":[]}`))
	}
	uri, ok := wire.String(wire.Get(request.Params(), "uri"))
	if !ok {
		return wire.Failure(noID, wire.Errorf(wire.CodeInvalidParams, "params.uri is required: a string."))
	}
	return wire.Failure(noID, wire.Errorf(wire.CodeResourceNotFoundOldRevs,
		"Resource not found: %.200s. The server has no resources; only results of tasks that were too large are read here, by the links in their places.", uri))
}
