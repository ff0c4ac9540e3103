package mirror

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Names of headers, in the form that package net/http gives them.
const (
	HeaderVersion = "Mcp-Protocol-Version"
	HeaderMethod  = "Mcp-Method"
	HeaderName    = "Mcp-Name"
	HeaderPrefix  = "Mcp-Param-" // of those that repeat an argument of a tool
)

// named says which member of params the header Mcp-Name repeats (revision
// 2026-07-28, Streamable HTTP, Standard Request Headers; Tasks extension,
// Streamable HTTP: Routing Headers).
var named = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
	"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
}

// Name returns what Mcp-Name repeats of a message. Known is false for methods
// that have no such header, present where params lack the member.
func Name(m wire.Message) (name string, known, present bool) {
	member, known := named[m.Method()]
	name, present = wire.String(wire.Get(m.Params(), member))
	return name, known, present
}

const prefix, suffix = "=?base64?", "?="

// Encode writes a value so that it arrives as it is (revision 2026-07-28,
// Streamable HTTP, Value Encoding).
func Encode(value string) string {
	sentinel := strings.HasPrefix(value, prefix) && strings.HasSuffix(value, suffix)
	if sentinel || strings.ContainsFunc(value, unsafe) || strings.TrimSpace(value) != value {
		return prefix + base64.StdEncoding.EncodeToString([]byte(value)) + suffix
	}
	return value
}

func unsafe(c rune) bool { return c < ' ' || c > '~' }

// Decode undoes Encode. It is false for a value with characters that must be
// encoded, or that is encoded badly.
func Decode(value string) (string, bool) {
	value = strings.Trim(value, " \t")
	if inner, ok := strings.CutPrefix(value, prefix); ok {
		if inner, ok := strings.CutSuffix(inner, suffix); ok {
			text, err := base64.StdEncoding.DecodeString(inner)
			return string(text), err == nil && utf8.Valid(text)
		}
	}
	return value, !strings.ContainsFunc(value, func(c rune) bool { return unsafe(c) && c != '\t' })
}
