// Package proxy is the core: it decides, for each request of a host, whether
// the answer is waited for or the call becomes a task, it runs the tasks, and it
// brings the server's questions to whoever can answer them.
//
// The edges (package host) turn what arrives into a [Request] that stands by
// itself; [Proxy.Handle] sends it to the upstream server. A tools/call is looked
// up in the [Policies]:
//
//	never     forwarded, the answer is waited for
//	after d   forwarded; what is not answered within d becomes a task
//	always    becomes a task first, and is forwarded then
//	required  as always; a host without tasks is refused
//
// A host that asks for a task (revision 2025-11-25) gets one at once; one without
// tasks may get a ticket for a slow call instead of its answer. To the core these
// are the same task: how it looks is for the edges.
//
// A run (run.go) is the life of one request in which the server may ask
// something: tools/call, prompts/get, resources/read. A quick one ends where its
// answer comes in. Any other has a goroutine (actor.go), on which everything
// happens that concerns it, and which ends, for a task, with one conditional
// write to the store. All other requests go straight through.
//
// What is at work at a time is bounded (slots.go, turn.go): whoever finds no place
// is stored, and sent when it is its turn. A server that makes tasks of its own is
// asked for one and followed by package upstream; all that is known of it here is
// where it is, so that a later process can go on (remote.go).
//
// # Questions
//
// A server of the initialize era asks by a request, and waits (ask.go); one of
// the stateless era answers the call with its questions, and wants it repeated
// with the answers (round.go). The proxy itself may ask whether a call may be
// sent at all (approve.go). All three become inputs of the run (inputs.go), which
// reach the host by the one way that is open to it:
//
//   - a host of the initialize era is asked directly ([Request].Ask);
//   - a task shows them, and tasks/update answers ([Proxy.UpdateTask]);
//   - a call that is no task is answered with them, and held until the host
//     comes back to it with the answers and the state that names it (hold.go,
//     state.go), or until it has not come back for too long.
//
// Nothing here knows the shape of a message of either era beyond the members
// that are acted on: bytes come in from one edge and leave by the other.
package proxy
