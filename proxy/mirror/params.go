package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Param is one argument of a tool that is repeated in a header (revision
// 2026-07-28, Streamable HTTP, Custom Headers from Tool Parameters).
type Param struct {
	Header string   // its name
	path   []string // through the arguments
	number bool
}

const (
	keyHeader = "x-mcp-header"
	maxNested = 64 // levels of a schema that are looked into
	maxParams = 64 // of one tool
)

// Params reads a tool's inputSchema. The error says why the definition is
// invalid: then clients must not offer the tool.
func Params(schema []byte) ([]Param, error) {
	if !bytes.Contains(schema, []byte(keyHeader)) && !bytes.Contains(schema, []byte(`\u`)) {
		return nil, nil
	}
	w := schemaWalk{seen: map[string]bool{}}
	w.schema(schema, nil, true, 0)
	return w.found, w.err
}

// schemaWalk looks for the annotation in every place where a schema may stand,
// to find those where it must not.
type schemaWalk struct {
	found []Param
	seen  map[string]bool
	err   error
}

// schema visits one schema; path leads to what it describes, if reachable.
func (w *schemaWalk) schema(schema []byte, path []string, reachable bool, depth int) {
	if w.err != nil || !wire.IsObject(schema) {
		return
	}
	if depth > maxNested {
		w.err = errors.New("its schema is nested too deeply")
		return
	}
	wire.Each(schema, func(key string, value []byte) {
		switch key {
		case keyHeader:
			w.annotation(schema, value, path, reachable)
		case "properties":
			w.properties(value, path, reachable, depth)
		case "$defs", "definitions", "patternProperties", "dependentSchemas":
			wire.Each(value, func(_ string, sub []byte) { w.schema(sub, nil, false, depth+1) })
		case "default", "const", "enum", "examples":
		default:
			w.unreachable(value, depth)
		}
	})
}

func (w *schemaWalk) properties(properties []byte, path []string, reachable bool, depth int) {
	wire.Each(properties, func(name string, sub []byte) {
		w.schema(sub, append(path[:len(path):len(path)], name), reachable, depth+1)
	})
}

func (w *schemaWalk) unreachable(value []byte, depth int) {
	w.schema(value, nil, false, depth+1)
	for _, sub := range wire.Elements(value) {
		w.schema(sub, nil, false, depth+1)
	}
}

func (w *schemaWalk) annotation(schema, value []byte, path []string, reachable bool) {
	name, ok := wire.String(value)
	kind, _ := wire.String(wire.Get(schema, "type"))
	switch lower := strings.ToLower(name); {
	case w.err != nil:
	case !ok || !IsToken(name):
		w.err = fmt.Errorf("%s %.100s is not the name of a header", keyHeader, value)
	case !reachable || len(path) == 0:
		w.err = fmt.Errorf("%s %q stands elsewhere than on a property", keyHeader, name)
	case kind != "string" && kind != "integer" && kind != "boolean":
		w.err = fmt.Errorf("%s %q is on a property that is neither string, integer nor boolean", keyHeader, name)
	case w.seen[lower]:
		w.err = fmt.Errorf("%s %q stands twice", keyHeader, name)
	case len(w.found) == maxParams:
		w.err = fmt.Errorf("more than %d properties have %s", maxParams, keyHeader)
	default:
		w.seen[lower] = true
		w.found = append(w.found, Param{http.CanonicalHeaderKey(HeaderPrefix + name), path, kind == "integer"})
	}
}

// Value returns what the header says for these arguments; false where they
// have none for it: then there is no header.
func (p Param) Value(arguments []byte) (string, bool) {
	return text(wire.Lookup(arguments, p.path...))
}

// Matches reports whether a header, decoded, says what the arguments say.
// Numbers are compared as numbers (revision 2026-07-28, Streamable HTTP,
// Server Validation).
func (p Param) Matches(header string, arguments []byte) bool {
	value, ok := p.Value(arguments)
	return ok && (header == value || p.number && decimal(header) == value)
}

// text is the value as a header says it; null and what has parts has no
// header.
func text(value []byte) (string, bool) {
	if len(value) == 0 {
		return "", false
	}
	switch c := value[0]; {
	case c == '"':
		return wire.String(value)
	case c == 't', c == 'f':
		return string(value), true
	case c == '-', c >= '0' && c <= '9':
		return decimal(string(value)), true
	}
	return "", false
}

// decimal writes 42.0 and 4.2e1 as 42. Anything else stays as it is, for the
// server to refuse.
func decimal(number string) string {
	if !strings.ContainsAny(number, ".eE") || len(number) > 40 {
		return number
	}
	f, _, err := big.ParseFloat(number, 10, 200, big.ToNearestEven)
	if err != nil || !f.IsInt() || f.MantExp(nil) > 64 {
		return number
	}
	return f.Text('f', 0)
}

// IsToken reports whether s can be the name of a header (RFC 9110, 5.1: tchar).
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}
