package proxy

import (
	"context"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// maxPages of a list of tools are looked through, for lookupLimit at most once
// the server is there.
const (
	maxPages    = 100
	lookupLimit = 30 * time.Second
)

// isDestructive goes by the annotations that the server has for the tool now. A
// tool that says nothing is destructive (revision 2026-07-28, Schema,
// ToolAnnotations), and so is one that cannot be found.
func (r *run) isDestructive(ctx context.Context, req *Request) bool {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	annotations := wire.Get(r.definition(ctx, req), "annotations")
	return string(wire.Get(annotations, "readOnlyHint")) != "true" && string(wire.Get(annotations, "destructiveHint")) != "false"
}

// definition is the tool as tools/list has it; nil if it cannot be had.
func (r *run) definition(ctx context.Context, req *Request) []byte {
	var params []byte
	for range maxPages {
		list := r.list(ctx, req, params)
		for _, tool := range wire.Elements(wire.Get(list, "tools")) {
			if name, _ := wire.String(wire.Get(tool, "name")); name == r.tool {
				return tool
			}
		}
		cursor := wire.Get(list, "nextCursor")
		if cursor == nil || string(cursor) == "null" {
			return nil
		}
		params = wire.Set(nil, "cursor", cursor)
	}
	return nil
}

func (r *run) list(ctx context.Context, req *Request, params []byte) (result []byte) {
	came := make(chan []byte, 1)
	up := &upstream.Request{Message: wire.Request(0, "tools/list", params), Caller: req.Caller, Header: req.Header}
	up.Reply = func(m wire.Message, _ *upstream.Error) { came <- m.Result() }
	r.client.Send(up)
	select {
	case result = <-came:
	case <-ctx.Done():
		r.client.Cancel(up, wire.Notification("notifications/cancelled", nil))
	}
	return result
}
