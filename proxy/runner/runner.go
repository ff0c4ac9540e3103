// Package runner puts the parts of the proxy together, from the store up, and
// takes them down in reverse: the host's calls, the tasks, the server, what
// the server left behind, the store.
//
// [Run] does so in one process for one host on standard input and output. A
// runner that outlives its hosts is built of the same parts.
package runner

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/host"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Options is all that a run needs to know.
type Options struct {
	StateDir string
	Policies proxy.Policies
	Upstream upstream.Command
	// Era overrides the order in which the upstream server's eras are tried;
	// nil follows the host.
	Era *upstream.Era
	// Identity tells this upstream server from others that use the StateDir.
	Identity string
	// In and Out are the host's; Stderr takes the server's standard error.
	In     io.Reader
	Out    io.Writer
	Stderr io.Writer
	// MessageBytes limits one message in either direction.
	MessageBytes int
	// Version is this program's own.
	Version     string
	Log         zerolog.Logger
	LogPayloads bool
}

// How long things may take. Hosts kill what has not left some seconds after
// they closed its input.
const (
	lockWait   = 10 * time.Second        // for a process that is just leaving the state directory
	callGrace  = time.Second             // for calls that are waited for when the host is gone
	taskGrace  = 3 * time.Second         // for tasks, after that
	closeGrace = 1500 * time.Millisecond // for the server to leave by itself
)

// Run serves the host until it closes In or ctx ends. The error says why it
// could not begin, or what went wrong with In or with the store at the end.
func Run(ctx context.Context, opts Options) error {
	defer upstream.AdoptOrphans(opts.Log)()
	store, err := taskstate.Open(ctx, opts.StateDir, &taskstate.Options{Log: opts.Log, LockWait: lockWait})
	if err != nil {
		return err
	}
	opts.Log.Info().Str("state_dir", opts.StateDir).Msg("the task store is open")
	core := proxy.New(proxy.Options{
		Store: store, Policies: opts.Policies, Identity: opts.Identity, Log: opts.Log,
		Upstream: upstream.Options{
			Command: opts.Upstream, Stderr: opts.Stderr,
			MessageBytes: opts.MessageBytes, Log: opts.Log, LogPayloads: opts.LogPayloads,
		},
	})
	out, restore := unblocked(opts.In, opts.Out)
	defer restore()
	edge := host.NewStdio(opts.In, out, host.Options{
		Proxy: core, Version: opts.Version, Era: opts.Era,
		MessageBytes: opts.MessageBytes, Log: opts.Log, LogPayloads: opts.LogPayloads,
	})
	core.Recover(edge.Upstream())
	err = serve(ctx, edge, opts.Log)
	shutDown(ctx, edge, core, opts.Log)
	return errors.Join(err, store.Close())
}

// serve returns when the host closes the stream or ctx ends. A read from
// standard input cannot be interrupted: in the second case its goroutine stays
// until the process ends.
func serve(ctx context.Context, edge *host.Stdio, log zerolog.Logger) error {
	gone := make(chan error, 1)
	go func() { gone <- edge.Serve() }()
	select {
	case err := <-gone:
		log.Info().AnErr("error", err).Msg("the host is gone")
		return err
	case <-ctx.Done():
		log.Info().Msg("told to end")
		return nil
	}
}

func shutDown(ctx context.Context, edge *host.Stdio, core *proxy.Proxy, log zerolog.Logger) {
	within(ctx, callGrace, edge.Finish)
	within(ctx, taskGrace, core.Drain)
	within(context.Background(), callGrace, edge.Close)
	within(context.Background(), closeGrace, core.Close)
	within(context.Background(), closeGrace, func(ctx context.Context) {
		if err := upstream.KillOrphans(ctx, log); err != nil {
			log.Warn().Err(err).Msg("processes of the server may be left")
		}
	})
}

func within(parent context.Context, d time.Duration, step func(context.Context)) {
	ctx, cancel := context.WithTimeout(parent, d)
	defer cancel()
	step(ctx)
}
