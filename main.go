// Command mcp-taskproxy stands between MCP hosts and a server, and makes slow
// tool calls of that server durable tasks:
//
//	mcp-taskproxy [flags] -- COMMAND [ARG...]
//	mcp-taskproxy [flags] --url URL
//	mcp-taskproxy [flags] --listen HOST:PORT (-- COMMAND [ARG...] | --url URL)
//	mcp-taskproxy ps
//	mcp-taskproxy stop
//	mcp-taskproxy config check FILE
//
// The host is on standard input and output, or, with --listen, there are many
// over HTTP; the server is a process that is started, or, with --url, one that
// runs elsewhere.
//
// On standard input and output the work is done by a runner that all windows of a
// state directory share, and that goes on while tasks run: see commands.go and
// package runner.
//
// Flags, environment and configuration file become a [config.Config] in
// flags.go, and the proxy runs with it. Flags win over MCP_TASKPROXY_*
// variables, and these over the file. Standard output belongs to the protocol:
// help, version and errors go to standard error. The exit status is 2 when
// something must be written differently, with one line for each such thing.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/mcp-taskproxy/mcp-taskproxy/config"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/host"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/runner"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

func main() {
	os.Exit(start(os.Args))
}

func start(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// A host that is gone must not take us with it; ignored, children would inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	own, command := split(args)
	status := 0
	if err := newApp(command, &status).RunContext(ctx, own); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return status
}

// run serves until the hosts are gone, or it is told to end.
func run(ctx context.Context, cfg config.Config, header http.Header) int {
	server := serverOf(cfg, header)
	var err error
	if cfg.Detach == "never" || cfg.Listen.Address != "" || !runner.CanDetach {
		err = runAlone(ctx, cfg, server)
	} else {
		err = runFront(ctx, cfg, server)
	}
	if err == nil {
		return 0
	}
	if strings.Contains(err.Error(), cfg.StateDir) && !strings.Contains(err.Error(), "--state-dir") {
		err = fmt.Errorf("%w (the state directory is chosen with --state-dir)", err)
	}
	fmt.Fprintln(os.Stderr, wrong("%v", err))
	return 1
}

// runAlone does everything in this process.
func runAlone(ctx context.Context, cfg config.Config, server runner.Server) error {
	log, flush := runner.NewLog(os.Stderr, cfg.LogLevel)
	defer flush()
	for _, text := range cfg.Warnings() {
		log.Warn().Msg(text)
	}
	return runner.Run(ctx, runner.Options{
		Server: server, Storage: storage(cfg), Listen: listen(cfg.Listen),
		In: os.Stdin, Out: os.Stdout, Stderr: os.Stderr, Version: release(), Log: log,
	})
}

// runFront leaves everything to the runner. Environment and
// folder of the server are this process's.
func runFront(ctx context.Context, cfg config.Config, server runner.Server) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if server.Upstream.Dir, err = os.Getwd(); err != nil {
		return err
	}
	server.Upstream.Env = os.Environ()
	for _, text := range cfg.Warnings() {
		fmt.Fprintln(os.Stderr, wrong("%s", text))
	}
	return runner.Front(ctx, runner.FrontOptions{
		Server: server, Storage: storage(cfg), Version: release(), Start: []string{program, "runner"},
		In: os.Stdin, Out: os.Stdout, Stderr: os.Stderr,
	})
}

func serverOf(cfg config.Config, header http.Header) runner.Server {
	dir, _ := os.Getwd() // without one, the command alone tells servers apart
	return runner.Server{
		Policies: policies(cfg), Limits: limits(cfg), Upstream: upstream.Command{Args: cfg.Command}, Era: era(cfg.UpstreamEra),
		URL: cfg.URL, Header: header, ForwardHeaders: cfg.ForwardHeaders, ForwardAuthorization: cfg.ForwardAuthorization,
		Identity: cfg.Fingerprint(dir), MessageBytes: int(cfg.MessageBytes), Listeners: cfg.Listeners, LogLevel: cfg.LogLevel, LogPayloads: cfg.LogPayloads,
		Passthrough: cfg.Policy.UpstreamTasks == config.TasksPassthrough,
		OlderTasks:  host.OlderTasks(cfg.OlderTasks), Fallback: host.Fallback(cfg.Fallback),
	}
}

func storage(cfg config.Config) runner.Storage {
	return runner.Storage{StateDir: cfg.StateDir, Node: cfg.Node, Stored: cfg.Stored, StoreBytes: cfg.StoreBytes}
}

// listen is nil where there is one host, on standard input and output.
func listen(l config.Listen) *runner.Listen {
	if l.Address == "" {
		return nil
	}
	return &runner.Listen{
		Address: l.Address, Endpoint: l.Endpoint, TLSCert: l.TLS.Cert, TLSKey: l.TLS.Key,
		Auth: auth(l.Auth), Origins: l.Origins, Hosts: l.Hosts,
		HeaderBytes: int(l.HeaderBytes), Connections: l.Connections, Sessions: l.Sessions,
		SessionIdle: l.SessionIdle, HeaderTimeout: l.HeaderTimeout,
	}
}

func auth(a config.Auth) runner.Auth {
	return runner.Auth{
		TokensFile: a.Tokens, Issuer: a.Issuer, Audience: a.Audience,
		JWKSURL: a.JWKSURL, Scopes: a.Scopes, Resource: a.Resource,
	}
}

func policies(cfg config.Config) proxy.Policies {
	all := proxy.Policies{Default: policy(cfg.Policy)}
	for _, t := range cfg.Tools {
		all.Tools = append(all.Tools, proxy.ToolPolicy{Pattern: t.Pattern, Policy: policy(t.Policy)})
	}
	return all
}

func limits(cfg config.Config) proxy.Limits {
	return proxy.Limits{
		Running: cfg.Running, RunningPerOwner: cfg.RunningPerOwner, Queued: cfg.Queued, Reject: cfg.WhenFull == "reject", Questions: cfg.Questions,
		ResultBytes: int(cfg.ResultBytes), LargeResults: proxy.LargeResults(cfg.LargeResults),
	}
}

func policy(p config.Policy) proxy.Policy {
	if p.UpstreamTasks == config.TasksPassthrough {
		p.Task = config.Never // tasks are not ours then
	}
	return proxy.Policy{
		Task: proxy.Mode(p.Task), After: p.After, TTL: p.TTL,
		PollInterval: p.PollInterval, MaxRun: p.MaxRun, Stall: p.Stall,
		Input: proxy.Input(p.Input), InputTimeout: p.InputTimeout, Approve: proxy.Approve(p.Approve),
		FallbackAfter: p.FallbackAfter, KeepAlive: p.KeepAlive, NoUpstreamTasks: p.UpstreamTasks == config.TasksOff, Concurrency: p.Concurrency,
	}
}

// era is nil where the host's decides.
func era(name string) *upstream.Era {
	eras := map[string]upstream.Era{"initialize": upstream.Initialize, "stateless": upstream.Stateless}
	if e, ok := eras[name]; ok {
		return &e
	}
	return nil
}

// split keeps what follows the first -- from the flag library, which would
// read flags and commands of its own into it.
func split(args []string) (own, command []string) {
	for i, a := range args {
		if a == "--" {
			return args[:i], args[i+1:]
		}
	}
	return args, nil
}

const usage = `mcp-taskproxy [flags] -- COMMAND [ARG...]
mcp-taskproxy [flags] --url URL
mcp-taskproxy [flags] --listen HOST:PORT (-- COMMAND [ARG...] | --url URL)
mcp-taskproxy ps
mcp-taskproxy stop
mcp-taskproxy config check FILE`

func newApp(command []string, status *int) *cli.App {
	return &cli.App{
		Name:            "mcp-taskproxy",
		Usage:           "make slow tool calls of an unmodified MCP server durable tasks",
		UsageText:       usage,
		Version:         version(),
		Writer:          os.Stderr,
		ErrWriter:       os.Stderr,
		HideHelpCommand: true,
		OnUsageError:    usageError,
		// A comma belongs to the value of a header.
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {}, // start reports errors
		Flags:                     flags(),
		Commands:                  []*cli.Command{configCommand(command), psCommand(command), stopCommand(command), runnerCommand()},
		Action: func(c *cli.Context) error {
			cfg, err := configure(c, command)
			if err != nil {
				return err
			}
			header, err := secrets(cfg)
			if err == nil && c.Bool("repair") {
				err = repair(cfg.StateDir)
			}
			if err == nil {
				*status = run(c.Context, cfg, header)
			}
			return err
		},
	}
}

// usageError puts what the flag library says into one line with a remedy.
func usageError(_ *cli.Context, err error, _ bool) error {
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		return wrong("unknown flag --%s; see mcp-taskproxy --help; flags of the server go after its command, behind --", name)
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag needs an argument: -"); ok {
		return wrong("--%s needs a value; see mcp-taskproxy --help", name)
	}
	return wrong("%v; see mcp-taskproxy --help", err)
}

// release is the module's version; version adds what the Go tool knows of it.
func release() string {
	name, _, _ := strings.Cut(version(), " ")
	return name
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" && s.Value == "true" {
			v += " " + s.Key + "=" + s.Value
		}
	}
	return v + " " + info.GoVersion
}
