//go:build race

package wire

// raceEnabled: the race detector learns from package syscall what connections put in
// order, and nothing from a [fileCall].
const raceEnabled = true
