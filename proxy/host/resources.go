package host

import (
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// offersResources says that a host may be given a link to a resource of ours. In
// this era each request says anew whether its sender takes tasks, so that any host
// may.
func (s *stateless) offersResources() bool { return !s.Passthrough && s.Proxy.Spills() }

// offersResources is for sessions whose hosts can have tasks, or tickets.
func (s *session) offersResources() bool {
	return !s.Passthrough && s.Proxy.Spills() && (s.hasTasks() || s.fallback.is())
}

// withResources advertises resources for a server that has none (revision
// 2026-07-28, Resources, Capabilities), without what it takes the server for: changes
// of lists, and subscriptions.
func withResources(capabilities []byte) []byte {
	if proxy.HasResources(capabilities) {
		return capabilities
	}
	return wire.Set(capabilities, "resources", []byte("{}"))
}
