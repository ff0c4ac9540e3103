package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// beside is what a result says beside its content: _meta, structuredContent, isError,
// and whatever a later revision or a vendor adds. It stays when the content does not,
// as far as there is room.
type beside struct {
	members      []byte   // an object without isError; nil for none
	size         int      // of the members, in bytes
	left         []string // names of what found no room
	unstructured bool     // structuredContent is among them
	isError      []byte   // stays in any case; nil where the result says neither true nor false
}

// maxBeside members are looked at, and structuredContent wherever it stands.
const maxBeside = 64

const keyStructured = "structuredContent"

type besideMember struct {
	key   string
	value []byte
	at    int
}

// size is that of the member with what parts it from others.
func (m besideMember) size() int { return len(wire.Quote(m.key)) + len(m.value) + len(":,") }

// rank is lower for what gets room first: structuredContent, without which a result
// counts as an error, and then what takes little.
func (m besideMember) rank() int {
	if m.key == keyStructured {
		return 0
	}
	return m.size()
}

// besideContent gives the room, in bytes, to as many members as it can hold; they
// stay in their order.
func besideContent(result []byte, room int) (b beside) {
	all, left := besideMembers(result)
	kept, lost := fitting(all, room)
	for _, m := range kept {
		b.members = wire.Append(b.members, m.key, m.value)
		b.size += m.size()
	}
	b.left = left
	for _, m := range lost {
		b.left = append(b.left, m.key)
		b.unstructured = b.unstructured || m.key == keyStructured
	}
	if e := wire.Get(result, "isError"); string(e) == "true" || string(e) == "false" {
		b.isError = e
	}
	return b
}

// fitting parts what the room, in bytes, can hold from what it cannot.
func fitting(all []besideMember, room int) (kept, lost []besideMember) {
	slices.SortStableFunc(all, func(a, b besideMember) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, m := range all {
		if m.size() > room {
			lost = append(lost, m)
			continue
		}
		kept = append(kept, m)
		room -= m.size()
	}
	return inOrder(kept), inOrder(lost)
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
		case key == "content", key == "isError":
		case i >= 0:
			all[i].value = value
		case len(all) < maxBeside || key == keyStructured:
			all = append(all, besideMember{key, value, len(all)})
		case left == nil:
			left = []string{fmt.Sprintf("more than %d members", maxBeside)}
		}
	})
	return all, left
}

// roomForLacks is above what lacks takes at the worst, in bytes.
const roomForLacks = 500

// lacks is what there is to say about what found no room; empty for nothing.
func (b beside) lacks() string {
	if len(b.left) == 0 {
		return ""
	}
	const most = 200
	text := " Left out beside the content: " + cutQuoted(strings.Join(b.left, ", "), most) + "."
	if b.marks() {
		text += " " + markedOnly
	}
	return text
}

// markedOnly is for a result that says isError where the tool did not.
const markedOnly = "The tool has done its work; this is marked as an error only because its structuredContent was left out. Do not repeat the call if it changes something."

// marks says that the result is given as an error that was none: without
// structuredContent that was there a client that checks it against the tool's
// outputSchema would refuse it.
func (b beside) marks() bool { return b.unstructured && string(b.isError) != "true" }

// with is a result of that content.
func (b beside) with(content ...[]byte) []byte {
	result, isError := wire.Prepend(b.members, "content", wire.Array(content)), b.isError
	if b.unstructured {
		isError = []byte("true")
	}
	if isError == nil {
		return result
	}
	return wire.Append(result, "isError", isError)
}

// replace gives the outcome that content, and has it say what its result says.
func (b beside) replace(o taskstate.Outcome, content ...[]byte) taskstate.Outcome {
	o.Payload = b.with(content...)
	o.IsError = string(wire.Get(o.Payload, "isError")) == "true"
	switch {
	case b.marks():
		o.StatusMessage = markedOnly
	case o.IsError:
		o.StatusMessage = short(FirstText(o.Payload))
	}
	return o
}
