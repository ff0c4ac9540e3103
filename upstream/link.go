package upstream

import (
	"context"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// link is how a conn's messages travel: as lines of a child process, each as an
// HTTP request of its own (Streamable HTTP), or in the way of revision
// 2024-11-05 (HTTP+SSE). It feeds the conn from goroutines of its own, tells
// it when the session has ended, and closes conn.done last.
//
// None of its functions but awaitRoom and stop waits for the server.
type link interface {
	// request sends an enlisted request. An error means that it was not sent,
	// and never will be. To a child process requests go in order; over HTTP
	// they may overtake each other.
	request(r *Request, m wire.Message) error
	// notify sends a notification. It arrives, or fails, before any request or
	// notification that is given to the link later; over HTTP not necessarily
	// behind the requests that were given to it earlier.
	notify(m wire.Message) error
	// respond sends m, the answer to q. An error means that it was not sent,
	// and never will be; whatever happens later is for conn.undelivered.
	respond(q *question, m wire.Message) error
	// awaitRoom waits, before a question is read, until not too many answers
	// are still on their way.
	awaitRoom()
	// cancel lets go of a request that was taken back; notice names it. A zero
	// notice is for requests of our own, of which servers are told nothing.
	cancel(r *Request, notice wire.Message) error
	// answered looks at the response to r before r's owner does.
	answered(r *Request, m wire.Message) wire.Message
	// hold says whether more is to be sent at once.
	hold(more bool)
	// stop ends the session in good order until ctx ends, then at once, and
	// waits for that. It may be called any number of times.
	stop(ctx context.Context)
}
