// Package mirror says which parts of a message Streamable HTTP repeats in
// headers, and how, so that whatever stands between a client and a server can
// route without a look into the body (revision 2026-07-28, Streamable HTTP,
// Request Metadata).
//
// The client side (package upstream) writes the headers, the server side
// (package proxy/host) compares them with the body; both read here what they
// must be. Nothing here is kept: see the callers for what is known of tools.
package mirror
