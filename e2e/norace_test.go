//go:build !race

package e2e

// raceEnabled has the proxy built with the race detector when the tests are.
const raceEnabled = false
