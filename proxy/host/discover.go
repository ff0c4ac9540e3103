package host

import (
	"context"
	"encoding/json"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// discover answers for the upstream server, whatever its era (revision
// 2026-07-28, Discovery), with what the proxy adds to it.
func (s *stateless) discover(x exchange) canceller {
	ctx, cancel := context.WithTimeout(s.ctx, s.StartWait)
	spawned := s.spawn(func() {
		defer cancel()
		desc, err := s.client.Connect(ctx)
		if err != nil {
			x.fail(connectError(err))
			return
		}
		x.result(s.discoverResult(desc))
	})
	if !spawned {
		cancel()
		x.fail(shuttingDown())
	}
	return stopping(cancel, upstream.NotDispatched)
}

func (s *stateless) discoverResult(desc upstream.Description) []byte {
	result := []byte("{}")
	if desc.Era == upstream.Stateless {
		result = desc.Result()
	} else if text := desc.Instructions; text != nil {
		result = wire.Set(result, "instructions", text)
	}
	meta := wire.Set(wire.Get(desc.Result(), "_meta"), metaProxy, proxyInfo(s.Version))
	if info := desc.ServerInfo; info != nil {
		meta = wire.Set(meta, metaServerInfo, info)
	}
	versions, err := json.Marshal(supportedVersions())
	if err != nil {
		panic(err) // strings always have an encoding
	}
	result = wire.Set(result, "_meta", meta)
	result = wire.Set(result, "capabilities", s.capabilities(desc.Capabilities))
	result = wire.Set(result, "supportedVersions", versions)
	return completed("server/discover", result)
}

func (s *stateless) capabilities(theirs []byte) []byte {
	switch {
	case s.offersResources():
		return withResources(withTasks(theirs))
	case !s.Passthrough:
		return withTasks(theirs)
	case theirs == nil:
		return []byte("{}")
	}
	return wire.Delete(theirs, "tasks") // which this era does not know
}

// withTasks advertises the Tasks extension and not the older tasks (Tasks
// extension, Capability Negotiation).
func withTasks(capabilities []byte) []byte {
	capabilities = wire.Delete(capabilities, "tasks")
	extensions := wire.Set(wire.Get(capabilities, "extensions"), tasksExtension, []byte("{}"))
	return wire.Set(capabilities, "extensions", extensions)
}

func withoutTasks(capabilities []byte) []byte {
	if capabilities == nil {
		return []byte("{}")
	}
	return wire.DeleteIn(capabilities, "extensions", tasksExtension)
}
