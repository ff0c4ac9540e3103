//go:build race

package conformance

// raceEnabled has the proxy built with the race detector when the tests are.
const raceEnabled = true
