package proxy

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// LargeResults says what becomes of a task's result above [Limits].ResultBytes.
type LargeResults string

// Spill keeps it in a file, and gives the client a link that it reads it by;
// Truncate cuts its texts; Reject fails the task. An empty one is Reject.
const (
	Spill    LargeResults = "spill"
	Truncate LargeResults = "truncate"
	Reject   LargeResults = "reject"
)

// fit makes an outcome one that may be stored.
func (r *run) fit(o taskstate.Outcome) taskstate.Outcome {
	limits := r.proxy.opts.Limits
	switch most := limits.ResultBytes; {
	case most <= 0 || len(o.Payload) <= most:
		return o
	case o.Status == taskstate.Completed && limits.LargeResults == Spill:
		return r.spill(o)
	case o.Status == taskstate.Completed && limits.LargeResults == Truncate:
		return truncated(o, most, whyLarge(len(o.Payload), most))
	}
	if o.Status == taskstate.Failed {
		o.Payload = shortError(o.Payload)
		return o
	}
	return failed(errOverResultBytes(len(o.Payload), limits.ResultBytes))
}

// shortError keeps of a server's error what it says in short.
func shortError(object []byte) []byte {
	text, _ := wire.String(wire.Get(object, "message"))
	e := wire.Set(nil, "data", []byte(`{"reason":"too_large"}`))
	e = wire.Prepend(e, "message", wire.Quote(short(text)))
	code := wire.Get(object, "code")
	if len(code) == 0 || len(code) > 20 {
		code = strconv.AppendInt(nil, wire.CodeInternal, 10)
	}
	return wire.Prepend(e, "code", code)
}

// shownOfSpilled is how much of a text stands beside the link, in bytes.
const shownOfSpilled = 2000

// spill leaves a link in the result's place.
func (r *run) spill(o taskstate.Outcome) taskstate.Outcome {
	sum, err := r.proxy.opts.Tasks.store.Spill(r.taskID, o.Payload)
	if errors.Is(err, taskstate.ErrFinished) {
		return o // too late, as Finish will say
	}
	var full *taskstate.LimitError
	if size, most := len(o.Payload), r.proxy.opts.Limits.ResultBytes; errors.As(err, &full) {
		r.log().Warn().Err(err).Int("bytes", size).Msg("there is no room for a large result in a file, and its beginning is kept")
		return truncated(o, most, whyFull(size, full))
	}
	if err != nil {
		r.log().Error().Err(err).Msg("a large result could not be kept in a file")
		return failed(errUnkept(err, len(o.Payload)))
	}
	return r.linked(o, spilledPrefix+r.taskID+"/"+sum)
}

// linked has in the result's place what refers to it.
func (r *run) linked(o taskstate.Outcome, uri string) taskstate.Outcome {
	beside := besideContent(o.Payload, r.proxy.opts.Limits.ResultBytes/2)
	text := fmt.Sprintf("The result has %d bytes, more than are given at once. The whole of it, a CallToolResult in JSON, is the resource %s: read it with resources/read as long as the task is kept.%s",
		len(o.Payload), uri, beside.lacks())
	if kinds := kindsOf(wire.Elements(wire.Get(o.Payload, "content"))).String(); kinds != "" {
		text += " Its content: " + kinds + "."
	}
	if start := cutText(FirstText(o.Payload), shownOfSpilled); start != "" {
		text += " It begins:\n" + start
	}
	return beside.replace(o, textContent(text), link(uri, r.tool, len(o.Payload)))
}

// mostOf a result of that size may be stored as it is, or cut.
func (l Limits) mostOf(size int) int {
	if l.ResultBytes <= 0 {
		return size
	}
	return min(size, l.ResultBytes)
}

// link is the content that refers to a resource (revision 2026-07-28, Tools,
// Resource Links).
func link(uri, tool string, size int) []byte {
	l := wire.Set(nil, "size", fmt.Appendf(nil, "%d", size))
	l = wire.Prepend(l, "mimeType", []byte(`"application/json"`))
	l = wire.Prepend(l, "name", wire.Quote("result of "+tool))
	l = wire.Prepend(l, "uri", wire.Quote(uri))
	return wire.Prepend(l, "type", []byte(`"resource_link"`))
}

func textContent(text string) []byte {
	return wire.Prepend(wire.Set(nil, "text", wire.Quote(text)), "type", []byte(`"text"`))
}
