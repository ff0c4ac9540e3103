// Package wire is the protocol's grammar and nothing of its meaning: JSON-RPC
// 2.0 messages whose members stay the bytes that arrived, edits of JSON text
// that leave everything else as it was, and framing, by lines and in event
// streams.
//
// A [Message] is parsed once, at the edge where it enters. Parsing checks the
// whole text and remembers where the envelope's members lie; nothing is
// decoded. What a caller does not replace leaves the process byte for byte as
// it came in: unknown members, numbers above 2^53, 1.0, escapes, order.
//
// The package knows no method, no era and no task. It is a leaf: everything
// may import it and it imports nothing of this module.
package wire
