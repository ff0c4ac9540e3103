//go:build unix

package runner

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Keep runs this program once more, with these arguments that call [Serve], and
// stays until that has ended. It is there for a runner that is killed and can end
// nothing any more: its servers die with it, and what they have started, in
// whatever session, becomes a child of the keeper, which kills it. A keeper that is
// killed itself leaves a runner that is as good as before. Where the system knows
// no such adoption the keeper leaves at once.
func Keep(stateDir string, args []string) error {
	// What a session manager sends to all means the runner. Ignored, the runner
	// would inherit it.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer upstream.AdoptOrphans(zerolog.Nop())()
	cmd, err := fork(args)
	if err != nil || !upstream.Adopts {
		return err
	}
	debug.FreeOSMemory() // for the rest it does next to nothing
	state, err := cmd.Process.Wait()
	if err != nil {
		return err
	}
	log, done := keeperLog(stateDir)
	defer done()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		log.Error().Int("pid", state.Pid()).Stringer("status", state).
			Msg("the runner was killed: its tasks fail at the next start; what its servers have left is ended now")
	}
	return upstream.KillChildren(context.Background(), log)
}

// keeperLog is the runner's, by its name: it may have been exchanged since.
func keeperLog(stateDir string) (log zerolog.Logger, done func()) {
	file, err := os.OpenFile(LogPath(stateDir), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return zerolog.Nop(), func() {}
	}
	return zerolog.New(file).With().Timestamp().Logger(), func() { _ = file.Close() }
}
