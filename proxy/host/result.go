package host

import (
	"strconv"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// cacheable are the methods whose results carry caching hints (revision
// 2026-07-28, Caching).
var cacheable = map[string]bool{
	"server/discover": true, "tools/list": true, "prompts/list": true,
	"resources/list": true, "resources/templates/list": true, "resources/read": true,
}

// complete makes a response of the upstream server one of this era: members
// that the revision requires are put in front where they are missing, members
// of the older tasks are taken out, the rest stays as it is.
func (s *stateless) complete(method string, from sender, m wire.Message) wire.Message {
	if urls := urlsRequired(method, from, m.Err()); urls != nil {
		m = wire.Result(noID, urls)
	}
	if m.Err() != nil {
		return modernError(m)
	}
	result := m.Result()
	switch {
	case !wire.IsObject(result):
		return m
	case isTask(result) && !s.Passthrough:
		return foreignTask()
	}
	if method == "tools/list" {
		s.tools.learn(result)
		result = withoutExecution(result)
		if !from.tasks {
			result = s.fallback.list(result)
		}
	}
	return m.With(wire.Changes{Result: s.identify(completed(method, result))})
}

// completed adds resultType and the caching hints. A result without hints is
// stale at once and for its receiver alone.
func completed(method string, result []byte) []byte {
	if cacheable[method] && !isInterim(result) {
		if wire.Get(result, "cacheScope") == nil {
			result = wire.Prepend(result, "cacheScope", []byte(`"private"`))
		}
		if wire.Get(result, "ttlMs") == nil {
			result = wire.Prepend(result, "ttlMs", []byte("0"))
		}
	}
	if wire.Get(result, "resultType") == nil {
		result = wire.Prepend(result, "resultType", []byte(`"complete"`))
	}
	return result
}

func isInterim(result []byte) bool {
	kind := wire.Get(result, "resultType")
	return kind != nil && string(kind) != `"complete"`
}

// isTask: a server that was never told of the extension must not answer with a
// task, and a client has no use for one that it does not know (Tasks extension,
// Capability Negotiation).
func isTask(result []byte) bool { return string(wire.Get(result, "resultType")) == `"task"` }

func foreignTask() wire.Message {
	return wire.Failure(noID, &wire.Error{
		Code: wire.CodeInternal,
		Message: "The upstream server answered with a task, although it was not asked for one, and the task cannot be followed. " +
			upstream.Unknown.Sentence(),
		Data: map[string]any{"reason": "unsupported_result", "outcome": upstream.Unknown},
	})
}

// identify adds the upstream server's name to the result's _meta, if it is
// known, and takes the older tasks' key out.
func (s *stateless) identify(result []byte) []byte {
	desc, _ := s.client.Describe()
	meta := wire.Get(result, "_meta")
	if meta == nil {
		return withFirstMeta(result, desc.ServerInfo)
	}
	kept := wire.Delete(meta, metaRelatedTask)
	if desc.ServerInfo != nil && wire.Get(kept, metaServerInfo) == nil {
		kept = wire.Prepend(kept, metaServerInfo, desc.ServerInfo)
	} else if len(kept) == len(meta) {
		return result
	}
	return wire.Set(result, "_meta", kept)
}

func withFirstMeta(result, info []byte) []byte {
	if info == nil {
		return result
	}
	return wire.Prepend(result, "_meta", wire.Prepend(nil, metaServerInfo, info))
}

// withoutExecution takes the older tasks' field off the tools.
func withoutExecution(result []byte) []byte {
	tools := wire.Elements(wire.Get(result, "tools"))
	changed := false
	for i, tool := range tools {
		tools[i] = wire.Delete(tool, "execution")
		changed = changed || len(tools[i]) != len(tool)
	}
	if !changed {
		return result
	}
	return wire.Set(result, "tools", wire.Array(tools))
}

// codeURLsRequired: an older server has the user visit URLs before it is called
// again (revision 2025-11-25, Elicitation, URL Elicitation Required Error).
const codeURLsRequired = -32042

// urlsRequired is that error in the words of this era, for a host that takes
// such questions; nil for others. Nothing of the call is left at the server, so
// that there is no state to come back to.
func urlsRequired(method string, from sender, object []byte) []byte {
	if string(wire.Get(object, "code")) != strconv.Itoa(codeURLsRequired) || !proxy.Conversable(method) ||
		!wire.IsObject(wire.Lookup(from.caller.Capabilities, "elicitation", "url")) {
		return nil
	}
	var requests []byte
	for i, params := range wire.Elements(wire.Lookup(object, "data", "elicitations")) {
		if !wire.IsObject(params) {
			return nil
		}
		question := wire.Set(wire.Set(nil, "params", params), "method", []byte(`"elicitation/create"`))
		requests = wire.Set(requests, "elicitation-"+strconv.Itoa(i+1), question)
	}
	if requests == nil {
		return nil
	}
	return wire.Set(wire.Set(nil, "inputRequests", requests), "resultType", []byte(`"input_required"`))
}

// modernError gives an error code of an older revision its present value
// (revision 2026-07-28, Base Protocol, Error Codes).
func modernError(m wire.Message) wire.Message {
	if object := modernCode(m.Err()); object != nil {
		return m.With(wire.Changes{Err: object})
	}
	return m
}

// modernCode returns nil where the code is of the present.
func modernCode(object []byte) []byte {
	if string(wire.Get(object, "code")) != strconv.Itoa(wire.CodeResourceNotFoundOldRevs) {
		return nil
	}
	return wire.Set(object, "code", strconv.AppendInt(nil, wire.CodeInvalidParams, 10))
}
