package wire

import (
	"encoding/json"
	"fmt"
)

// Codes of JSON-RPC 2.0, and of MCP (revision 2026-07-28, Base Protocol, Error
// Codes).
const (
	CodeParse                   = -32700
	CodeInvalidRequest          = -32600
	CodeMethodNotFound          = -32601
	CodeInvalidParams           = -32602
	CodeInternal                = -32603
	CodeHeaderMismatch          = -32020
	CodeMissingClientCapability = -32021
	CodeUnsupportedVersion      = -32022
	CodeResourceNotFoundOldRevs = -32002 // up to 2025-11-25; -32602 since
)

// Error is an error object of JSON-RPC that this program makes itself. Data,
// if not nil, must have a JSON encoding.
type Error struct {
	Code    int
	Message string
	Data    any
}

// Errorf makes an Error without data.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return e.Message }

// JSON encodes the error object.
func (e *Error) JSON() []byte {
	object := struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{e.Code, e.Message, e.Data}
	text, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("wire: error data without a JSON encoding: %v", err))
	}
	return text
}
