package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bindings are the values that "$name" met, as raw JSON.
type bindings map[string]string

// fill puts bound values and the members of _meta into a line to be sent.
func (b bindings) fill(line string) string {
	line = strings.ReplaceAll(line, "$META", metaPlain)
	line = strings.ReplaceAll(line, "$TASKS", metaTasks)
	line = strings.ReplaceAll(line, "$ANSWERS", metaAnswers)
	line = strings.ReplaceAll(line, "$BOTH", metaBoth)
	for name, value := range b {
		line = strings.ReplaceAll(line, `"`+name+`"`, value)
	}
	return line
}

// match compares a line with a pattern, binding names, and returns the difference.
func (b bindings) match(pattern, line string) string {
	want, err := decode(b.fill(pattern))
	if err != nil {
		return fmt.Sprintf("the pattern is no JSON: %v", err)
	}
	got, err := decode(line)
	if err != nil {
		return fmt.Sprintf("the line is no JSON: %v", err)
	}
	return cmp.Diff(b.resolve(want, got), got)
}

// includes says whether an object has at least the members of the pattern. It binds nothing.
func (b bindings) includes(pattern string, object json.RawMessage) bool {
	want, err := decode(b.fill(pattern))
	got, gotErr := decode(string(object))
	if members, ok := want.(map[string]any); ok && err == nil && gotErr == nil {
		open(members)
		return cmp.Equal(bindings{}.resolve(want, got), got)
	}
	return false
}

// open lets an object, and those in it, have more members.
func open(members map[string]any) {
	for _, value := range members {
		if inner, ok := value.(map[string]any); ok {
			open(inner)
		}
	}
	members["..."] = true
}

// decode keeps numbers as their text: 1.0 is not 1 here.
func decode(text string) (any, error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// resolve returns want with its placeholders replaced by what they match in got;
// what matches nothing stays, to be seen in the difference.
func (b bindings) resolve(want, got any) any {
	switch want := want.(type) {
	case string:
		return b.placeholder(want, got)
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return b.members(want, got)
		}
	case []any:
		if got, ok := got.([]any); ok {
			return b.elements(want, got)
		}
	}
	return want
}

func (b bindings) members(want, got map[string]any) map[string]any {
	all := map[string]any{}
	_, more := want["..."]
	for name, value := range got {
		if _, named := want[name]; more && !named {
			all[name] = value
		}
	}
	for name, value := range want {
		if _, there := got[name]; name != "..." && (there || value != "$none") {
			all[name] = b.resolve(value, got[name])
		}
	}
	return all
}

func (b bindings) elements(want, got []any) []any {
	all := []any{}
	for i, value := range want {
		if value == "..." {
			return append(all, got[min(i, len(got)):]...)
		}
		if i >= len(got) {
			return append(all, want[i:]...)
		}
		all = append(all, b.resolve(value, got[i]))
	}
	return all
}

func (b bindings) placeholder(want string, got any) any {
	matches := got != nil
	switch want {
	case "$none":
		return want
	case "$any":
	case "$string":
		_, matches = got.(string)
	case "$int":
		number, ok := got.(json.Number)
		matches = ok && !strings.ContainsAny(number.String(), ".eE")
	case "$time":
		text, _ := got.(string)
		_, err := time.Parse(time.RFC3339Nano, text)
		matches = err == nil
	default:
		if matches = matches && strings.HasPrefix(want, "$"); matches {
			b[want] = raw(got)
		}
	}
	if matches {
		return got
	}
	return want
}

// raw is the JSON of a decoded value.
func raw(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
