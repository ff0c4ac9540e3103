package runner

import (
	"context"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/host"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// stdioEdge is one host on standard input and output.
type stdioEdge struct {
	host    *host.Stdio
	restore func() // lets go of the input, and restores the output's mode
	log     zerolog.Logger
}

func newStdioEdge(core *proxy.Proxy, opts Options) *stdioEdge {
	in, release := polled(opts.In)
	out, restore := unblocked(opts.In, opts.Out)
	return &stdioEdge{host.NewStdio(in, out, edgeOptions(core, opts)), func() { release(); restore() }, opts.Log}
}

// serve returns when the host closes the stream or ctx ends. A read from
// standard input cannot be interrupted: in the second case its goroutine stays
// until the process ends.
func (e *stdioEdge) serve(ctx context.Context) error {
	gone := make(chan error, 1)
	go func() { gone <- e.host.Serve() }()
	select {
	case err := <-gone:
		e.log.Info().AnErr("error", err).Msg("the host is gone")
		return err
	case <-ctx.Done():
		e.log.Info().Msg("told to end")
		return nil
	}
}

func (e *stdioEdge) dial(_ string, sender upstream.Caller) *upstream.Client {
	return e.host.Dial(sender)
}
func (e *stdioEdge) finish(ctx context.Context) { e.host.Finish(ctx) }
func (e *stdioEdge) close(ctx context.Context)  { e.host.Close(ctx) }
