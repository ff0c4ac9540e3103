package upstream

import (
	"net/http"
	"time"

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
	// is none. It mostly runs on the goroutine that reads from the server, and
	// must not wait for it.
	Reply func(wire.Message, *Error)

	// Header is what the request's owner forwards over HTTP. It is used while
	// the request runs and for the session's own requests after it; never
	// stored or logged. What the configuration sets, and what belongs to the
	// protocol, stands above it.
	Header http.Header
	// Aside takes notifications other than progress that came on this
	// request's own HTTP stream (log messages and the like). Nil leaves them
	// to Handler.Notification.
	Aside func(wire.Message)
	// Ask takes requests of the server that belong to this request: those on
	// its own HTTP stream and, where Handler.Request is nil, those attributed
	// to it. Nil leaves them to Handler.Request. It runs on the goroutine that
	// reads from the server. Answer must be called once, from any goroutine,
	// with a response under any id; what comes after the server has withdrawn
	// the question is dropped. Withdrawn, which may be nil, is called, on such
	// a goroutine too, when it does (revision 2025-11-25, Cancellation) while
	// this request is open; where it is nil the notification goes on like any.
	Ask func(m wire.Message, answer func(wire.Message)) (withdrawn func())
	// Inward says that a question of the server that may be this request's goes to
	// Ask, also where Handler.Request takes those that do not say whose they are.
	Inward bool

	// Task has the server make a task of a tools/call, if it makes any. Nil asks
	// for none, except where a tool of revision 2025-11-25 cannot be called
	// without; NoTask says not even then.
	Task   *TaskWish
	NoTask bool

	// Under Client.mu: set when the request is given to a connection, and when
	// it is taken back before that.
	conn      *conn
	id        int64
	withdrawn bool
	repeated  bool    // on a new session, because the former one was refused
	asked     bool    // the server has had a question
	guessed   bool    // and it was logged that it may have been another's
	wished    bool    // the server was asked to make a task, or allowed to
	answered  bool    // it did
	follow    *follow // of that task; for good
	// Of a request of ours: the one on whose behalf it is, and whether tasks are
	// to be declared. own says that it is no host's.
	behalf   *Request
	declares bool
	own      bool
	// Under conn.order.
	written  bool
	levelled bool      // it has waited for the session's log level
	since    time.Time // when it began to
}

// principal is the request that is concerned where r is: the one on whose behalf
// we have made it, or itself.
func (r *Request) principal() *Request {
	if r != nil && r.behalf != nil {
		return r.behalf
	}
	return r
}

// plain reports whether r is a notification, which waits in the same queue.
func (r *Request) plain() bool { return r.Reply == nil }

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
	// Capabilities is what a greeting declares where Params is nil: the
	// host's, as raw JSON. Nil means {}. [Client.Declare] adds to it.
	Capabilities []byte
	// Info is the clientInfo that this program gives where it has no host's.
	Info []byte
}

// Description is what a server said of itself when it was greeted. Values are
// raw JSON, nil if it gave none.
type Description struct {
	Era Era
	// Response is the response to initialize or server/discover.
	Response     wire.Message
	Capabilities []byte
	ServerInfo   []byte
	Instructions []byte
}

// Result is the result of initialize or of server/discover.
func (d Description) Result() []byte { return d.Response.Result() }

func describe(era Era, m wire.Message) Description {
	d := Description{Era: era, Response: m}
	d.Capabilities, d.Instructions = wire.Get(m.Result(), "capabilities"), wire.Get(m.Result(), "instructions")
	d.ServerInfo = wire.Get(m.Result(), "serverInfo")
	if era == Stateless {
		d.ServerInfo = wire.Lookup(m.Result(), "_meta", metaServerInfo)
	}
	return d
}
