// Package runner puts the parts of the proxy together, from the store up, and
// takes them down in reverse: the hosts' calls, the tasks, the server, what
// the server left behind, the store.
//
// [Run] does so in one process, for one host on standard input and output or
// for any number over HTTP.
//
// Tasks are to outlive the host that made them, and a store belongs to one
// process, while hosts start one for each window. So a process on standard input
// and output is a [Front], as a rule: it leaves the host to the one runner of its
// state directory, which it starts if there is none ([Serve]), and stays for as long
// as the host is served. If it can, it passes the host's pipes on (pass.go,
// passed.go); otherwise it relays the bytes. The runner has
// the store and, for each front, a session (session.go): a core of its own with
// an upstream server of its own. A session ends when its front is gone and its
// tasks are done; the runner, when it has had no session for a moment. Above it is a
// keeper ([Keep]), which does nothing unless the runner is killed. What fronts and
// runner say to each other is in greeting.go.
package runner

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/host"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// How long things may take. Hosts kill what has not left some seconds after
// they closed its input.
const (
	lockWait   = 10 * time.Second        // for a process that is just leaving the state directory
	runnerWait = 30 * time.Second        // for a runner that is, with all its sessions
	callGrace  = time.Second             // for calls that are waited for when the host is gone
	taskGrace  = 3 * time.Second         // for tasks, after that
	closeGrace = 1500 * time.Millisecond // for the server to leave by itself
)

// edge is where hosts come in: standard input and output, or HTTP.
type edge interface {
	// serve returns when the hosts are gone or ctx ends.
	serve(ctx context.Context) error
	// dial is the session with the server for tasks that an owner has from an
	// earlier process.
	dial(owner string, sender upstream.Caller) *upstream.Client
	// finish waits for what is unanswered until ctx ends, close for the rest.
	finish(ctx context.Context)
	close(ctx context.Context)
}

// Run serves hosts until they are gone or ctx ends. The error says why it
// could not begin, or what went wrong with the hosts' side or the store at the
// end.
func Run(ctx context.Context, opts Options) error {
	if opts.Listen != nil {
		return runHTTP(ctx, opts)
	}
	return runStdio(ctx, opts)
}

func runStdio(ctx context.Context, opts Options) error {
	return withCore(ctx, opts, func(core *proxy.Proxy) error {
		e := newStdioEdge(core, opts)
		defer e.restore()
		return lead(ctx, ctx, e, core, opts.Log)
	})
}

// withCore opens the store and makes the core on it.
func withCore(ctx context.Context, opts Options, use func(*proxy.Proxy) error) error {
	if err := refuseBesideRunner(opts.StateDir, opts.Version); err != nil {
		return err
	}
	defer upstream.AdoptOrphans(opts.Log)()
	store, err := openStore(ctx, ServeOptions{Storage: opts.Storage, Log: opts.Log}, lockWait)
	if err != nil {
		return err
	}
	return errors.Join(use(newCore(opts, proxy.NewTasks(store, opts.Log))), store.Close())
}

func openStore(ctx context.Context, opts ServeOptions, wait time.Duration) (*taskstate.Store, error) {
	store, err := taskstate.Open(ctx, opts.StateDir, &taskstate.Options{
		Log: opts.Log, LockWait: wait, Node: opts.Node, MaxTasks: opts.Stored, MaxBytes: opts.StoreBytes,
	})
	if err == nil {
		opts.Log.Info().Str("state_dir", opts.StateDir).Msg("the task store is open")
	}
	return store, err
}

func newCore(opts Options, tasks *proxy.Tasks) *proxy.Proxy {
	return proxy.New(proxy.Options{
		Tasks: tasks, Policies: opts.Policies, Limits: opts.Limits, Identity: opts.Identity, Log: opts.Log,
		Upstream: upstream.Options{
			Command: opts.Upstream, URL: opts.URL, Header: opts.Header, Stderr: opts.Stderr,
			MessageBytes: opts.MessageBytes, Log: opts.Log, LogPayloads: opts.LogPayloads, Passthrough: opts.Passthrough,
		},
	})
}

// lead runs the core behind an edge, from the first task to the last. What is
// unfinished at the end gets its graces unless patience ends.
func lead(ctx, patience context.Context, e edge, core *proxy.Proxy, log zerolog.Logger) error {
	core.Recover(e.dial)
	err := e.serve(ctx)
	within(patience, callGrace, e.finish)
	within(patience, taskGrace, core.Drain)
	within(context.Background(), callGrace, e.close)
	within(context.Background(), closeGrace, core.Close)
	sweep(log)
	return err
}

// sweep ends what servers have left behind. It comes after all of them.
func sweep(log zerolog.Logger) {
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

func edgeOptions(core *proxy.Proxy, opts Options) host.Options {
	return host.Options{
		Proxy: core, Version: opts.Version, Era: opts.Era,
		MessageBytes: opts.MessageBytes, Log: opts.Log, LogPayloads: opts.LogPayloads,
		Passthrough: opts.Passthrough, OlderTasks: opts.OlderTasks, Fallback: opts.Fallback, Listeners: opts.Listeners,
	}
}
