package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
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
	if r.req.TTL > 0 {
		task.TTL = min(task.TTL, r.req.TTL)
	}
	if !dispatched {
		task.Request = r.encodeRequest()
	}
	task.Remote = r.remote
	if r.places.waiting {
		task.StatusMessage = waitsForTurn
	}
	if len(r.inputs.open) > 0 {
		task.Status, task.Inputs = taskstate.InputRequired, inputRequests(r.inputs.open)
	}
	return task
}

// storedHead is the first line of what is stored of a request: what the host said of
// itself, whether headers of it went with the request, and whether somebody has
// to confirm it yet. The headers are not stored: they may be credentials.
type storedHead struct {
	upstream.Caller
	Headers bool    `json:"headers,omitempty"`
	Approve Approve `json:"approve,omitempty"`
}

// encodeRequest writes what it takes to send a call after a restart.
func (r *run) encodeRequest() []byte {
	head := r.head()
	if !r.cleared {
		head.Approve = r.policy.Approve
	}
	return head.encode(r.message.Raw())
}

func (r *run) head() storedHead {
	return storedHead{Caller: r.req.Caller, Headers: dependsOn(r.req.Header)}
}

// encode puts the head in front of what it is about.
func (h storedHead) encode(rest []byte) []byte {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // byte slices, strings and booleans always have an encoding
	}
	return slices.Concat(text, []byte{'\n'}, rest)
}

// dependsOn reports whether a call may be another one without these headers.
// Those of W3C Trace Context and Baggage only describe it.
func dependsOn(header http.Header) bool {
	for name := range header {
		if name != "Traceparent" && name != "Tracestate" && name != "Baggage" {
			return true
		}
	}
	return false
}

func decodeRequest(stored []byte) (m wire.Message, head storedHead, err error) {
	head, message, err := decodeHead(stored)
	if err == nil {
		m, err = wire.Parse(message)
	}
	return m, head, err
}

func decodeHead(stored []byte) (head storedHead, rest []byte, err error) {
	first, rest, _ := bytes.Cut(stored, []byte{'\n'})
	return head, rest, json.Unmarshal(first, &head)
}
