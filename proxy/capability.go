package proxy

import (
	"slices"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// needed is the capability that a client must have declared to be asked this,
// as a path; nil for a request that clients do not know.
func needed(request []byte) []string {
	method, _ := wire.String(wire.Get(request, "method"))
	params := wire.Get(request, "params")
	switch method {
	case "roots/list":
		return []string{"roots"}
	case "sampling/createMessage":
		if wire.Get(params, "tools") != nil || wire.Get(params, "toolChoice") != nil {
			return []string{"sampling", "tools"}
		}
		return []string{"sampling"}
	case "elicitation/create":
		if mode, _ := wire.String(wire.Get(params, "mode")); mode != "" {
			return []string{"elicitation", mode}
		}
		return []string{"elicitation", "form"}
	}
	return nil
}

// declares reports whether the capability is declared. An empty elicitation
// object stands for its form mode (revision 2026-07-28, Elicitation,
// Capabilities).
func declares(capabilities []byte, path []string) bool {
	if slices.Equal(path, []string{"elicitation", "form"}) && wire.IsObject(wire.Get(capabilities, "elicitation")) &&
		wire.Lookup(capabilities, "elicitation", "url") == nil {
		return true
	}
	return wire.IsObject(wire.Lookup(capabilities, path...))
}

// Takes reports whether a caller declared to take a question of a task, an object of
// method and params.
func Takes(caller upstream.Caller, request []byte) bool {
	path := needed(request)
	return path != nil && declares(caller.Capabilities, path)
}

// takes reports whether a caller declared what the server's request asks for.
func takes(caller upstream.Caller, m wire.Message) bool {
	return Takes(caller, question(m))
}

// refuseQuestion is what a client answers to a request that it did not declare
// to take (revision 2025-11-25, Sampling, Elicitation and Roots, Error
// Handling); nil if it did.
func refuseQuestion(request, capabilities []byte) *wire.Error {
	path := needed(request)
	method, _ := wire.String(wire.Get(request, "method"))
	switch {
	case path == nil:
		return wire.Errorf(wire.CodeMethodNotFound, "A client does not know %.100q.", method)
	case declares(capabilities, path):
		return nil
	case !declares(capabilities, path[:1]):
		return wire.Errorf(wire.CodeMethodNotFound, "The client did not declare %s for this request.", path[0])
	}
	return wire.Errorf(wire.CodeInvalidParams, "The client did not declare %s for this request.", strings.Join(path, "."))
}

// missingCapability is the error for a client that would have to be asked what
// it did not declare to take (revision 2026-07-28, Base Protocol, Error Codes).
func missingCapability(path []string, what string, outcome upstream.Outcome) *wire.Error {
	var required any = struct{}{}
	for _, name := range slices.Backward(path) {
		required = map[string]any{name: required}
	}
	return &wire.Error{
		Code:    wire.CodeMissingClientCapability,
		Message: what + ", and the client did not declare " + strings.Join(path, ".") + " on this request. " + outcome.Sentence(),
		Data:    map[string]any{"requiredCapabilities": required, "reason": "missing_capability", "outcome": outcome},
	}
}
