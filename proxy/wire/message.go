package wire

import (
	"bytes"
	"errors"
	"fmt"
)

// Message is one JSON-RPC message, as it arrived or changed since ([Message.With]).
// The accessors return parts of it, never copies: nobody may change them. The
// zero Message is none.
type Message struct {
	raw    []byte
	method string

	id, params, result, err span
	edit                    *edit // nil for a message as it came
}

// Errors of [Parse]. The first says that the text is no JSON at all (-32700),
// the second that it is JSON but no message of JSON-RPC 2.0 (-32600).
var (
	ErrNotJSON    = errors.New("not JSON")
	ErrNotMessage = errors.New("not a JSON-RPC 2.0 message")
)

// Parse checks the whole text and finds the envelope's members, in whatever
// order they stand. The message keeps line: its owner must not change it.
// A message that is well-formed JSON but breaks JSON-RPC is returned with
// ErrNotMessage and whatever id it has, so that it can be answered.
func Parse(line []byte) (Message, error) {
	m := Message{raw: line}
	i := scanSpace(line, 0)
	if i >= len(line) || line[i] != '{' {
		if Valid(line) {
			return m, fmt.Errorf("%w: not an object", ErrNotMessage)
		}
		return m, ErrNotJSON
	}
	var e envelope
	end := scanObject(line, i, 0, func(mem member) bool { e.note(line, mem); return true })
	if end < 0 || scanSpace(line, end) != len(line) {
		return m, ErrNotJSON
	}
	return e.message(line)
}

// envelope collects the members of a message while its text is scanned.
type envelope struct {
	jsonrpc, id, method, params, result, err span
	twice                                    string
}

func (e *envelope) note(b []byte, m member) {
	slot, name := e.slot(b[m.key.from+1 : m.key.to-1])
	if slot == nil {
		return
	}
	if slot.to != 0 {
		e.twice = name
	}
	*slot = m.value
}

func (e *envelope) slot(key []byte) (*span, string) {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = []byte(decodeKey(concat([]byte{'"'}, key, []byte{'"'})))
	}
	switch string(key) {
	case "jsonrpc":
		return &e.jsonrpc, "jsonrpc"
	case "id":
		return &e.id, "id"
	case "method":
		return &e.method, "method"
	case "params":
		return &e.params, "params"
	case "result":
		return &e.result, "result"
	case "error":
		return &e.err, "error"
	}
	return nil, ""
}

func (e *envelope) message(b []byte) (Message, error) {
	e.dropNull(b)
	m := Message{raw: b, id: e.id, params: e.params, result: e.result, err: e.err}
	reason, odd := "", e.id.to != 0 && !validID(e.id.of(b))
	if odd { // nothing can be answered under it
		m.id = span{}
	}
	switch {
	case e.twice != "": // two readers might take different ones
		reason = e.twice + " stands twice"
	case !isVersion(e.jsonrpc.of(b)):
		reason = `jsonrpc is not "2.0"`
	case odd:
		reason = "id is neither a string nor a number"
	case e.method.to != 0:
		m.method, reason = e.request(b)
	default:
		reason = e.response()
	}
	if reason != "" {
		return m, fmt.Errorf("%w: %s", ErrNotMessage, reason)
	}
	return m, nil
}

// isVersion decodes only what is spelled in another way than everybody's.
func isVersion(value []byte) bool {
	if string(value) == `"2.0"` {
		return true
	}
	version, _ := String(value)
	return version == "2.0"
}

// dropNull takes the null beside a result or an error for nothing: some
// libraries write out the member that they mean to leave out.
func (e *envelope) dropNull(b []byte) {
	switch {
	case e.result.to == 0 || e.err.to == 0:
	case b[e.err.from] == 'n' && b[e.result.from] != 'n':
		e.err = span{}
	case b[e.result.from] == 'n' && b[e.err.from] != 'n':
		e.result = span{}
	}
}

func (e *envelope) request(b []byte) (method, reason string) {
	method, ok := String(e.method.of(b))
	switch {
	case !ok || method == "":
		return "", "method is not a name"
	case e.result.to != 0 || e.err.to != 0:
		return method, "both a request and a response"
	}
	if p := e.params.of(b); p != nil && p[0] != '{' && p[0] != '[' && p[0] != 'n' {
		return method, "params is neither an object nor an array"
	}
	return method, ""
}

func (e *envelope) response() string {
	switch {
	case e.result.to == 0 && e.err.to == 0:
		return "no method, result or error"
	case e.result.to != 0 && e.err.to != 0:
		return "both a result and an error"
	case e.id.to == 0:
		return "a response without an id"
	}
	return ""
}

// validID: MCP allows strings and integers; null is no id of MCP (revision
// 2026-07-28, Base Protocol, Requests). Other numbers are carried as they are.
func validID(id []byte) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}
