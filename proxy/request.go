package proxy

import (
	"net/http"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Request is one request of a host, complete in itself.
type Request struct {
	Message wire.Message
	Caller  upstream.Caller
	// Upstream is the session that the request goes to.
	Upstream *upstream.Client
	// Owner is whose tasks the request may make; empty for the local user.
	Owner string
	// Tasks says that the host takes a task for an answer: it declared the Tasks
	// extension on this request, or asked for a task of revision 2025-11-25.
	Tasks bool
	// AtOnce says that it asked for one (revision 2025-11-25, Tasks, Creating
	// Tasks): the call is one at once, or fails. Such a host is asked through its
	// task alone. It is for calls that the policy allows to be tasks.
	AtOnce bool
	// TTL is how long it wants to have the outcome kept; the policy's is the most,
	// and stands for 0.
	TTL time.Duration
	// Fallback says that a host without tasks takes a ticket by ReplyTask, where
	// the policy has FallbackAfter.
	Fallback bool
	// Resources says that the host was told of resources by [Proxy.Spills], whatever
	// the server has of them.
	Resources bool
	// Header is what the host's owner passes on to a server over HTTP, also
	// with the session's own requests until the next one. It is never stored.
	Header http.Header
	// Progress takes the upstream's progress notifications; nil if the host
	// gave no progress token. Not called after Reply or ReplyTask, but for a
	// ProgressLasts: then it is called until the task ends (revision 2025-11-25,
	// Tasks, Task Progress Notifications).
	Progress      func(wire.Message)
	ProgressLasts bool
	// Aside takes the other notifications that the server sends on the
	// request's own stream, where it has one. Nil leaves them to the session's
	// handler. Not called after Reply or ReplyTask.
	Aside func(wire.Message)
	// Ask asks the host, which can be asked at any time: one of the initialize
	// era. answer is called once, from any goroutine, with a response under any
	// id, unless withdraw took the question back; calling that later, or twice,
	// does nothing. Nil is for a host that takes questions as answers to its
	// requests (revision 2026-07-28, Multi Round-Trip Requests) or from its
	// tasks.
	Ask func(m wire.Message, answer func(wire.Message)) (withdraw func())
	// Reply takes the response, under some id, ReplyTask the handle of the task
	// that the call has become. One of them is called once, from any goroutine,
	// unless the host cancels first. They report whether the host gets it: one
	// that has just cancelled does not.
	Reply     func(wire.Message) bool
	ReplyTask func(taskstate.Task) bool
}

// retries says that the host may come back to a request with the answers to what
// was asked in it (revision 2026-07-28, Multi Round-Trip Requests). In the
// initialize era the members that do so mean nothing.
func (r *Request) retries() bool { return r.Ask == nil && !r.AtOnce }

// pass has the server ask a host that itself sees to what it can be asked, and
// hears of what is taken back; nil for other hosts.
func (r *Request) pass() func(wire.Message, func(wire.Message)) (withdrawn func()) {
	if r.Ask == nil {
		return nil
	}
	return func(m wire.Message, answer func(wire.Message)) func() {
		r.Ask(m, answer)
		return nil
	}
}
