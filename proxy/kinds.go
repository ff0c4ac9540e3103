package proxy

import (
	"fmt"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// kinds counts the contents of a result by their type (revision 2026-07-28, Tools,
// Tool Result).
type kinds map[string]int

// kindNames are the types for people, in the order in which they are listed; what
// else there may be is counted as otherKind.
var kindNames = []struct{ kind, name string }{
	{"text", "text"}, {"image", "image"}, {"audio", "audio clip"}, {"resource_link", "resource link"}, {"resource", "embedded resource"},
	{otherKind, "content of another type"},
}

const otherKind = ""

func kindsOf(contents [][]byte) kinds {
	count := kinds{}
	for _, content := range contents {
		kind, _ := wire.String(wire.Get(content, "type"))
		if !known(kind) {
			kind = otherKind
		}
		count[kind]++
	}
	return count
}

func known(kind string) bool {
	for _, k := range kindNames {
		if k.kind == kind {
			return true
		}
	}
	return false
}

// String is like "1 image, 2 resource links"; empty for nothing.
func (k kinds) String() string {
	var texts []string
	for _, n := range kindNames {
		switch count := k[n.kind]; {
		case count == 1:
			texts = append(texts, "1 "+n.name)
		case count > 1:
			texts = append(texts, fmt.Sprintf("%d %s", count, plural(n.name)))
		}
	}
	return strings.Join(texts, ", ")
}

func plural(name string) string {
	if first, rest, ok := strings.Cut(name, " of "); ok {
		return first + "s of " + rest
	}
	return name + "s"
}
