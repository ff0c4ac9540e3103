// Package upstream is the client side of the proxy: it runs an MCP server as a
// child process, greets it in the era that it speaks, and carries requests to
// it and answers back.
//
// A [Client] is one session. It starts its server when the first request
// comes, and a dead server again for the next one, after a pause that grows
// while the server keeps dying early. Within a client, a conn is one run of
// the server; a process is what the operating system knows of it.
//
// Callers speak one form, whatever the server's era: a [Request] that carries
// all that the host said of itself, and a [Listen] for change notifications.
// The files initialize.go and stateless.go turn that form into either era;
// nothing else here knows the difference in shape. Ids and progress tokens are
// numbers of our own, one for both, so the two sides' can never collide.
//
// A request is written at most once. Whatever happens to it afterwards, it is
// never sent again: the [Error] that its sender gets says whether the server
// can have seen it.
package upstream
