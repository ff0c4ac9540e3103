package proxy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// beside is what a result says beside its content: _meta, structuredContent, isError,
// and whatever a later revision or a vendor adds. It stays when the content does not,
// as far as there is room.
type beside struct {
	members    []byte // an object; nil for none
	size       int
	left       []string // names of what found no room
	structured bool     // structuredContent was there
}

// maxBeside members are looked at.
const maxBeside = 64

type besideMember struct {
	key   string
	value []byte
	at    int
}

// size is that of the member with what parts it from others.
func (m besideMember) size() int { return len(wire.Quote(m.key)) + len(m.value) + len(":,") }

// besideContent gives the room, in bytes, to as many members as it can hold; they
// stay in their order.
func besideContent(result []byte, room int) (b beside) {
	var all []besideMember
	all, b.left = besideMembers(result)
	b.structured = wire.Get(result, "structuredContent") != nil
	slices.SortStableFunc(all, func(a, b besideMember) int { return cmp.Compare(a.size(), b.size()) })
	n := 0
	for ; n < len(all) && b.size+all[n].size() <= room; n++ {
		b.size += all[n].size()
	}
	for _, m := range inOrder(all[n:]) {
		b.left = append(b.left, m.key)
	}
	for _, m := range inOrder(all[:n]) {
		b.members = wire.Append(b.members, m.key, m.value)
	}
	return b
}

func inOrder(members []besideMember) []besideMember {
	slices.SortFunc(members, func(a, b besideMember) int { return cmp.Compare(a.at, b.at) })
	return members
}

// besideMembers has of a name that stands twice the last, as everywhere.
func besideMembers(result []byte) (all []besideMember, left []string) {
	wire.Each(result, func(key string, value []byte) {
		i := slices.IndexFunc(all, func(m besideMember) bool { return m.key == key })
		switch {
		case key == "content":
		case i >= 0:
			all[i].value = value
		case len(all) < maxBeside:
			all = append(all, besideMember{key, value, len(all)})
		case left == nil:
			left = []string{"more than 64 members"}
		}
	})
	return all, left
}

// lacks is a sentence about what found no room; empty for nothing.
func (b beside) lacks() string {
	if len(b.left) == 0 {
		return ""
	}
	const most = 200
	return " Left out beside the content: " + cutText(strings.Join(b.left, ", "), most) + "."
}

// with is a result of that content. Without structuredContent that was there it says
// isError, for a client that checks it against the tool's outputSchema would refuse it.
func (b beside) with(content ...[]byte) []byte {
	result := wire.Prepend(b.members, "content", wire.Array(content))
	if b.structured && wire.Get(b.members, "structuredContent") == nil {
		result = wire.Set(result, "isError", []byte("true"))
	}
	return result
}
