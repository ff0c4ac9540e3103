// Package upstream is the client side of the proxy: it reaches an MCP server,
// as a child process or over HTTP, greets it in the era that it speaks, and
// carries requests to it and answers back.
//
// A [Client] is one session. It reaches its server when the first request
// comes, and again for the next one after the session has ended: because the
// process died, the server forgot its HTTP session, or there was nothing to do.
//
// Within a client, a conn is one run of the session: ids, open requests, era.
// How its messages travel is its link's to know, and there are three: lines to
// and from a child process (link_process.go; a process is what the operating
// system knows of it), Streamable HTTP (http_link.go), and the HTTP+SSE of
// revision 2024-11-05 (sse_link.go). The two over HTTP share posts, which runs
// one goroutine for each message, and httpClient, which knows of each HTTP
// request that failed whether the server can have seen it.
//
// Callers speak one form, whatever the server's era: a [Request] that carries
// all that the host said of itself, and a [Listen] for change notifications.
// The files initialize.go and stateless.go turn that form into either era;
// beside the links, nothing else here knows the difference in shape. Ids and
// progress tokens are numbers of our own, one for both, so the two sides' can
// never collide.
//
// Servers of the initialize era ask on their own account. Where nobody takes that
// for the whole session (Handler.Request), a question belongs to one of the open
// requests (ask.go), whose owner answers it in whatever way its host can be asked.
// An answer that the server cannot be given ends that request (reply.go,
// http_answers.go), for the server would wait for it, and the request with it.
// What such a server hears once for all, but hosts of the stateless era say with
// every request, follows the requests: what the host is capable of (declare.go)
// and how much it wants of the server's log (level.go).
//
// A server may make a task of a call, in the way of revision 2025-11-25 or of the
// Tasks extension, where the request's owner wishes it or the tool wants it
// (task_wish.go, task_support.go). No caller sees that task: it is followed here
// (follow.go, and a file for each era), and the request answered with what the call
// itself would have got. Over HTTP a later process can take it up (resume.go).
//
// A tools/call is written at most once. Whatever happens to it afterwards, it
// is never sent again: the [Error] that its sender gets says whether the server
// can have seen it. Other requests only read, and are repeated in one case:
// where a server over HTTP refuses them for a session that it has lost.
//
// Over HTTP credentials are the caller's: those of the configuration
// (Options.Header) and those that a request brings (Request.Header). They go to
// the origin of Options.URL and nowhere else, and into no log and no error.
package upstream
