package proxy

import (
	"fmt"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// whyLarge and whyFull say why a result is cut, and what can be done.
func whyLarge(size, most int) string {
	return fmt.Sprintf("it has %d bytes, limits.result_bytes are %d. Ask the tool for less at a time.", size, most)
}

func whyFull(size int, full *taskstate.LimitError) string {
	return fmt.Sprintf("it has %d bytes, and the whole did not fit into limits.%s (%d of %d are in use). The work itself is done; the rest of the result is lost.",
		size, full.Limit, full.Used, full.Value)
}

// truncated keeps of a result's content what comes first, up to most bytes with
// what stands beside it and what says so.
func truncated(o taskstate.Outcome, most int, why string) taskstate.Outcome {
	const frame = `{"content":[],"isError":false}`
	all := wire.Elements(wire.Get(o.Payload, "content"))
	room := most - len(cutNote(why, kindsOf(all), "")) - len(frame) // the names of what is missing take no more than those of all
	beside := besideContent(o.Payload, min(most/2, room-roomForLacks))
	kept, left := cutContents(all, room-beside.size-len(wire.Quote(beside.lacks())))
	return beside.replace(o, append(kept, cutNote(why, left, beside.lacks()))...)
}

func cutNote(why string, left kinds, lacks string) []byte {
	if len(left) > 0 {
		why += " Left out: " + left.String() + "."
	}
	return textContent("[The result was cut by mcp-taskproxy: " + why + lacks + "]")
}

// cutContents returns what there is room for, in bytes, and the kinds of what is
// missing altogether.
func cutContents(all [][]byte, room int) (kept [][]byte, left kinds) {
	var missing [][]byte
	for _, content := range all {
		if cut := cutContent(content, room-len(",")); cut != nil {
			kept = append(kept, cut)
			room -= len(cut) + len(",")
		} else {
			missing = append(missing, content)
		}
	}
	return kept, kindsOf(missing)
}

// cutContent returns nil where nothing is left of it: only texts can be cut.
func cutContent(content []byte, most int) []byte {
	if len(content) <= most {
		return content
	}
	raw := wire.Get(content, "text")
	text, ok := wire.String(raw)
	room := most - (len(content) - len(raw)) - len(`""`)
	if !ok || text == "" || room <= 0 {
		return nil
	}
	for text = cutText(text, len(text)*room/len(raw)); text != ""; text = cutText(text, len(text)*3/4) { // as many escapes as on average, or more
		if cut := wire.Set(content, "text", wire.Quote(text)); len(cut) <= most {
			return cut
		}
	}
	return nil
}

// cutText cuts between characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(most, 0)], "")
}

// cutQuoted cuts between characters, and counts bytes as they are in JSON.
func cutQuoted(text string, most int) string {
	for i, c := range text {
		if most -= len(wire.Quote(string(c))) - len(`""`); most < 0 {
			return text[:i]
		}
	}
	return text
}
