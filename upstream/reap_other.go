//go:build !linux

package upstream

import (
	"context"

	"github.com/rs/zerolog"
)

// AdoptOrphans does something on Linux only, where main calls it once, before the first upstream starts, and the
// returned function last.
func AdoptOrphans(zerolog.Logger) (stop func()) { return func() {} }

// KillOrphans does something on Linux only, where it kills what AdoptOrphans adopted.
func KillOrphans(context.Context, zerolog.Logger) error { return nil }

// Adopts says that AdoptOrphans does something.
const Adopts = false

// KillChildren does something on Linux only, where it kills all that the process has adopted or started.
func KillChildren(context.Context, zerolog.Logger) error { return nil }
