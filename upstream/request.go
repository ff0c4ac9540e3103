package upstream

import (
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Request is one request to the server, in the form that stands by itself: the
// host's message and all that the host said of itself for it.
type Request struct {
	// Message is the request as the host sent it. Its id and progress token
	// are replaced on the way out, and what the server's era asks for is added
	// to or taken from its _meta; all else stays.
	Message wire.Message
	Caller  Caller
	// Notify takes notifications of this request: its progress. Nil asks the
	// server for none. It runs on the goroutine that reads from the server.
	Notify func(wire.Message)
	// Reply takes the response, under the id that the server saw, or why there
	// is none; it runs on the goroutine that reads from the server.
	Reply func(wire.Message, *Error)

	// Set when the request is given to a connection, under Client.mu.
	conn *conn
	id   int64
}

// Caller is what a host says of itself with each request (revision 2026-07-28,
// Base Protocol, _meta) or said once in initialize. Values are raw JSON.
type Caller struct {
	// Stateless says that the message itself carries the stateless era's keys.
	Stateless bool `json:"stateless,omitempty"`
	// Info is the clientInfo and Capabilities the clientCapabilities; nil if
	// the host sent none.
	Info         []byte `json:"info,omitempty"`
	Capabilities []byte `json:"capabilities,omitempty"`
	// LogLevel is the logLevel as a JSON string; nil for none.
	LogLevel []byte `json:"logLevel,omitempty"`
}

// Era is one of the protocol's two.
type Era int

// The eras: revisions up to 2025-11-25 open with initialize, later ones have
// requests that stand by themselves.
const (
	Initialize Era = iota
	Stateless
)

func (e Era) String() string {
	if e == Stateless {
		return "stateless"
	}
	return "initialize"
}

// Hello is how a client opens its session.
type Hello struct {
	// Era is the host's: the one tried first.
	Era Era
	// Only says that the other era must not be tried.
	Only bool
	// Params are the params of the host's own initialize, repeated to the
	// server; nil for a host of the stateless era. With them, the host itself
	// sends notifications/initialized after the first handshake.
	Params []byte
	// Info is the clientInfo that this program gives where it has no host's.
	Info []byte
}

// Description is what a server said of itself when it was greeted.
type Description struct {
	Era Era
	// Result is the result of initialize or of server/discover.
	Result []byte
	// Response is the message that held it.
	Response wire.Message
}

// Capabilities are the server's capabilities, nil if it gave none.
func (d Description) Capabilities() []byte { return wire.Get(d.Result, "capabilities") }

// Instructions are the server's instructions, nil if it gave none.
func (d Description) Instructions() []byte { return wire.Get(d.Result, "instructions") }

// ServerInfo is the server's name and version, nil if it gave none.
func (d Description) ServerInfo() []byte {
	if d.Era == Stateless {
		return wire.Lookup(d.Result, "_meta", metaServerInfo)
	}
	return wire.Get(d.Result, "serverInfo")
}
