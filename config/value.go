package config

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// value is one setting as it stands in the file.
type value struct {
	path string // tools.greet.after
	at   place  // where a mistake about it is reported
	node ast.Node
}

// fields are the keys that a mapping may have, and what reads each.
type fields map[string]func(value)

// mapping reads the entries of a mapping; keys lists the known ones in the
// order in which they are shown to people.
func (r *reader) mapping(n *ast.MappingNode, path string, keys []string, known fields) {
	r.entries(n, path, func(key string, v value, at place) {
		if read, ok := known[key]; ok {
			read(v)
			return
		}
		r.mistake(at, "unknown key %s; %s", quoted(key), suggest(key, keys))
	})
}

// entries calls read for each entry, the first of every key only.
func (r *reader) entries(n *ast.MappingNode, path string, read func(key string, v value, at place)) {
	seen := map[string]int{}
	for _, entry := range n.Values {
		t := entry.Key.GetToken()
		key, ok := plain(entry.Key)
		if !ok {
			r.mistake(at(t), "this cannot be a key; write key: value")
			continue
		}
		if line := seen[key]; line > 0 {
			r.mistake(at(t), "duplicate key %s; remove it here or in line %d", quoted(key), line)
			continue
		}
		seen[key] = at(t).line
		v := value{path + element(key), position(entry), entry.Value}
		r.places[v.path] = v.at
		read(key, v, at(t))
	}
}

var plainKey = pattern(`^[\w.*?-]{1,64}$`)

// element keeps a key from breaking the line that names it.
func element(key string) string {
	if plainKey().MatchString(key) {
		return key
	}
	return quoted(key)
}

// position is where a value begins, or its key if the value is a block or is
// missing.
func position(entry *ast.MappingValueNode) place {
	switch v := entry.Value.(type) {
	case nil, *ast.NullNode:
		return at(entry.Key.GetToken())
	case *ast.MappingNode:
		if !v.IsFlowStyle {
			return at(entry.Key.GetToken())
		}
	}
	return at(entry.Value.GetToken())
}

// plain is the text of a scalar as it was written, numbers included.
func plain(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// text reads a setting whose value is text as parse wants it, and reports
// what parse refuses.
func text[T any](r *reader, dst *T, want string, parse func(string) (T, error)) func(value) {
	return func(v value) {
		s, ok := plain(v.node)
		if !ok {
			r.mistake(v.at, "%s: %s; write %s", v.path, kind(v.node), want)
			return
		}
		got, err := parse(s)
		if err != nil {
			r.mistake(v.at, "%s: %v", v.path, err)
			return
		}
		*dst = got
	}
}

// list reads a list of texts, each as parse wants it and none twice.
func (r *reader) list(dst *[]string, want string, parse func(string) (string, error)) func(value) {
	add := func(s string) ([]string, error) {
		one, err := parse(s)
		if err == nil && slices.Contains(*dst, one) {
			err = fmt.Errorf("%s is there twice; remove one", quoted(one))
		}
		return append(*dst, one), err
	}
	return func(v value) {
		all, ok := v.node.(*ast.SequenceNode)
		if !ok {
			r.mistake(v.at, "%s: a list belongs here; write [%s]", v.path, want)
			return
		}
		for _, n := range all.Values {
			text(r, dst, want, add)(value{v.path, at(n.GetToken()), n})
		}
	}
}

// kind says what stands where something else belongs.
func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode:
		return "a mapping does not belong here"
	case *ast.SequenceNode:
		return "a list does not belong here"
	case nil, *ast.NullNode:
		return "there is no value"
	}
	return "this value does not belong here"
}

// oneOf parses a word of a fixed list.
func oneOf[T ~string](what string, words ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		if slices.Contains(words, T(s)) {
			return T(s), nil
		}
		names := make([]string, len(words))
		for i, w := range words {
			names[i] = string(w)
		}
		return "", fmt.Errorf("unknown %s %s; %s", what, quoted(s), suggest(s, names))
	}
}
