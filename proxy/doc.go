// Package proxy is the core: it decides, for each request of a host, whether
// the answer is waited for or the call becomes a task, and it runs the tasks.
//
// The edges (package host) turn what arrives into a [Request] that stands by
// itself; [Proxy.Handle] sends it to the upstream server. Everything but
// tools/call goes straight through. A tools/call is looked up in the
// [Policies]:
//
//	never     forwarded, the answer is waited for
//	after d   forwarded; what is not answered within d becomes a task
//	always    becomes a task first, and is forwarded then
//	required  as always; a host without tasks is refused
//
// A run is the life of one tools/call: one goroutine that waits for the answer
// and, once the call is a task, ends with one conditional write to the store.
// Nothing here knows an era or the shape of a message of either: bytes come
// in from one edge and leave by the other.
package proxy
