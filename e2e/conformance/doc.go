// Package conformance holds the proxy against the official conformance suite of
// the protocol, as a server, as a client, and with the Tasks extension:
//
//	go test ./e2e/conformance
//
// It drives binaries only. The suite and the Node it needs are installed once,
// at the versions of suite/package-lock.json, under the user's cache directory;
// without npm, or without its registry at the first run, the tests fail.
//
//   - server_test.go: the Go SDK's server passes the suite directly; with the
//     proxy before it, it must pass every check that it passed so.
//   - tasks_test.go: servers/plain knows no tasks; with the proxy before it,
//     over each kind of upstream, it must pass the checks of tasks-checks.txt.
//   - client_test.go: the Go SDK's client passes the suite directly; with the
//     proxy between it and the suite (viaproxy starts one for each scenario),
//     nothing may be lost.
//   - undeclared_test.go: what the suite lists and never runs, as tests of ours.
//
// What fails and is known to is in expected-failures.txt, with a reason; an
// entry that is no longer needed fails the tests as well.
//
// MCP_TASKPROXY_E2E_BINARY names a proxy to test instead of building one.
package conformance
