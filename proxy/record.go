package proxy

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// record is the task as it is first stored. The request is kept only as long
// as it has not been sent.
func (r *run) record(dispatched bool) taskstate.Task {
	task := taskstate.Task{
		Owner: r.req.Owner, Upstream: r.proxy.opts.Identity, Tool: r.tool, Dispatched: dispatched,
		TTL: r.policy.TTL, PollInterval: r.policy.PollInterval, MaxRun: r.policy.MaxRun, Stall: r.policy.Stall,
	}
	if !dispatched {
		task.Request = encodeRequest(r.req)
	}
	return task
}

// encodeRequest writes what it takes to send a call after a restart: a line
// with what the host said of itself, and the message as it came.
func encodeRequest(req *Request) []byte {
	caller, err := json.Marshal(req.Caller)
	if err != nil {
		panic(err) // byte slices and booleans always have an encoding
	}
	return slices.Concat(caller, []byte{'\n'}, req.Message.Raw())
}

func decodeRequest(stored []byte) (m wire.Message, caller upstream.Caller, err error) {
	head, message, _ := bytes.Cut(stored, []byte{'\n'})
	if err := json.Unmarshal(head, &caller); err != nil {
		return m, caller, err
	}
	m, err = wire.Parse(message)
	return m, caller, err
}
