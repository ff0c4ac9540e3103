package rawmcp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

const (
	invalidParams      = -32602
	internalError      = -32603
	missingCapability  = -32021
	methodNotFound     = -32601
	unsupportedVersion = -32022
)

// message is one line; its members are the bytes that arrived.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// member returns the raw value of a member of an object, nil if there is none.
func member(object json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil {
			return nil
		}
		object = members[name]
	}
	return object
}

// text returns the string a raw value holds, "" if it holds none.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// quote returns s as a JSON string, with nothing escaped that need not be.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return string(bytes.TrimSpace(b.Bytes()))
}

func textResult(s string) string {
	return fmt.Sprintf(`"content":[{"type":"text","text":%s}]`, quote(s))
}
