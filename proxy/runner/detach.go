package runner

import (
	"io"

	"github.com/rs/zerolog"
)

// FrontOptions is what a front needs to know.
type FrontOptions struct {
	Server  // what its host is to be served
	Storage // for the runner, if this front starts it
	Version string
	// Start is a program and the first arguments of a command that starts a
	// runner: with the flags of [Storage] behind them it calls [CheckStarted] and then, at
	// some remove ([Fork], [Keep]), [Serve], in a session of its own, and
	// [Report] when that is ready.
	Start  []string
	In     io.Reader
	Out    io.Writer
	Stderr io.Writer
}

// ServeOptions is what a runner needs to know before its first front.
type ServeOptions struct {
	Storage
	Version string
	// Log is the runner's own, and Sink where it goes: what sessions have to
	// say without a front goes there, too.
	Log  zerolog.Logger
	Sink io.Writer
	// Ready is called once: with nil when fronts can connect, or with why they
	// cannot.
	Ready func(error)
}
