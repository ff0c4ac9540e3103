// Package host is the server side of the proxy: it takes what hosts send and
// gives them what the era that they speak asks for.
//
// An edge is a transport; there are two, [Stdio] for one host and [HTTP] for
// any number. It splits what arrives into exchanges, one request each and the
// way back, and gives every exchange to the era that the request opens in:
//
//   - stateless.go and its neighbours serve requests that stand by themselves
//     (revision 2026-07-28): they read what the request says of its sender,
//     answer discovery and tasks/* themselves, and complete the results of the
//     rest.
//   - initialize.go serves the conversation that an initialize begins
//     (revisions up to 2025-11-25): it remembers what the host said, and
//     otherwise changes nothing.
//   - session_*.go show the owner's tasks in such a session as revision 2025-11-25
//     has them: the same tasks, whose questions become requests to the host.
//
// Both hand package proxy the same [proxy.Request]. A host may use both at
// once, on one channel.
//
// Over HTTP (the files http*.go) a POST is an exchange, and its response an
// answer: one JSON object, or a stream of events. Who shares a session with the
// upstream server is a guest: a session of the initialize era, or the stateless
// requests of one owner with the same capabilities. Streams are a session's
// ways to its host, and can be taken up again.
package host
