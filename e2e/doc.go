// Package e2e tests the built binary and nothing else: it imports no package
// of this module. A test starts a process as a host would, says lines to it
// and reads the lines that come back.
//
//   - host_test.go is the host: a child process, exact lines, deadlines.
//   - proxy_test.go starts the proxy around one of the fixture servers.
//   - testdata/*/*.txtar are conversations, one behaviour and one era a file;
//     conversations_test.go runs them and explains their format.
//     Those of testdata/input, mrtr, approval and notified are about questions in
//     a call: asked through a task, or by the call itself; put by the proxy; and
//     what is heard of tasks. Those of older are about tasks of 2025-11-25, those of
//     bridged about servers that make tasks themselves and hosts that know of none.
//     asked*_test.go and notified_test.go add what takes several hosts, or a race.
//   - wirehttp*_test.go put HTTP under both: a host whose lines go out as a real
//     client's requests, and fronts that serve the fixtures over HTTP; so every
//     conversation runs over every transport.
//   - http_*_test.go speak to the edge for hosts over HTTP by hand, owners_* are
//     about whose tasks they are, faults_* about servers over HTTP that
//     misbehave.
//   - runner_*_test.go are about fronts and the runner that they share: what they
//     give each other, and what is left when one of them goes. All other tests, but
//     for the conversations that are forwarded, run the proxy as one process
//     (main_test.go).
//   - migration_*_test.go are about both generations of tasks: matrix has one table
//     of what every host sees, resume what is left after a kill, npm the same for
//     published peers, examples what examples/migration says.
//   - crash_*_test.go kill whoever has the store, at every point of a call's way and
//     many times over; hostile_*_test.go have servers and hosts that mean harm,
//     bounds_test.go meets the limits, secrets_*_test.go look for what must not be
//     told.
//   - schema/ judges every message by the published schemas, conformance/ runs
//     the official suite.
//   - servers/ holds the fixture servers, peers/ the drivers for hosts that run
//     on Node.
//
// Where Node 20 and npm are present, servers and hosts from npm are installed
// once, at the versions of peers/package-lock.json, under the user's cache
// directory; otherwise the tests that need them say so and skip.
//
// MCP_TASKPROXY_E2E_BINARY names a proxy to test instead of building one.
package e2e
