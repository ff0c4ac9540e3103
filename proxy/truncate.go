package proxy

import (
	"fmt"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// truncated keeps of a result's content what comes first, up to most bytes with
// what stands beside it and what says so.
func truncated(o taskstate.Outcome, most int) taskstate.Outcome {
	beside := besideContent(o.Payload, most/2)
	note := textContent(fmt.Sprintf(
		"[The result was cut by mcp-taskproxy: it has %d bytes, limits.result_bytes are %d. Ask the tool for less at a time.%s]", len(o.Payload), most, beside.lacks()))
	left := most - beside.size - len(note) - len(`{"content":[],"isError":true}`)
	var kept [][]byte
	for _, content := range wire.Elements(wire.Get(o.Payload, "content")) {
		if content = cutContent(content, left-len(",")); content != nil {
			kept = append(kept, content)
			left -= len(content) + len(",")
		}
	}
	o.Payload = beside.with(append(kept, note)...)
	return flagged(o)
}

// cutContent returns nil where nothing is left of it: only texts can be cut.
func cutContent(content []byte, most int) []byte {
	if len(content) <= most {
		return content
	}
	text, ok := wire.String(wire.Get(content, "text"))
	rest := len(content) - len(wire.Get(content, "text"))
	if text = cutText(text, (most-rest)/2); !ok || text == "" { // half for what is escaped
		return nil
	}
	for cut := wire.Set(content, "text", wire.Quote(text)); ; cut = wire.Set(content, "text", wire.Quote(text)) {
		if len(cut) <= most {
			return cut
		}
		text = cutText(text, len(text)/2)
	}
}

// cutText cuts between characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(most, 0)], "")
}
