// Command mcp-taskproxy stands between an MCP host and a server that it
// starts, and makes slow tool calls of that server durable tasks:
//
//	mcp-taskproxy [flags] -- COMMAND [ARG...]
//	mcp-taskproxy config check FILE
//
// This file turns flags, environment and configuration file into a
// [config.Config] and runs the proxy with it. Flags win over MCP_TASKPROXY_*
// variables, and these over the file. Standard output belongs to the protocol:
// help, version and errors go to standard error. The exit status is 2 when
// something must be written differently, with one line for each such thing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mcp-taskproxy/mcp-taskproxy/config"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
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

func run(ctx context.Context, cfg config.Config) int {
	dir, _ := os.Getwd() // without one, the command alone tells servers apart
	log, flush := runner.NewLog(os.Stderr, cfg.LogLevel)
	defer flush()
	err := runner.Run(ctx, runner.Options{
		StateDir: cfg.StateDir, Policies: policies(cfg), Upstream: upstream.Command{Args: cfg.Command}, Era: era(cfg.UpstreamEra),
		Identity: config.Fingerprint(cfg.Command, dir),
		In:       os.Stdin, Out: os.Stdout, Stderr: os.Stderr,
		MessageBytes: int(cfg.MessageBytes), Version: release(), Log: log, LogPayloads: cfg.LogPayloads,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, wrong("%v (the state directory is chosen with --state-dir)", err))
		return 1
	}
	return 0
}

func policies(cfg config.Config) proxy.Policies {
	all := proxy.Policies{Default: policy(cfg.Policy)}
	for _, t := range cfg.Tools {
		all.Tools = append(all.Tools, proxy.ToolPolicy{Pattern: t.Pattern, Policy: policy(t.Policy)})
	}
	return all
}

func policy(p config.Policy) proxy.Policy {
	return proxy.Policy{
		Task: proxy.Mode(p.Task), After: p.After, TTL: p.TTL,
		PollInterval: p.PollInterval, MaxRun: p.MaxRun, Stall: p.Stall,
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

func newApp(command []string, status *int) *cli.App {
	return &cli.App{
		Name:            "mcp-taskproxy",
		Usage:           "make slow tool calls of an unmodified MCP server durable tasks",
		UsageText:       "mcp-taskproxy [flags] -- COMMAND [ARG...]\nmcp-taskproxy config check FILE",
		Version:         version(),
		Writer:          os.Stderr,
		ErrWriter:       os.Stderr,
		HideHelpCommand: true,
		OnUsageError:    usageError,
		ExitErrHandler:  func(*cli.Context, error) {}, // start reports errors
		Flags:           flags(),
		Commands:        []*cli.Command{configCommand(command)},
		Action: func(c *cli.Context) error {
			cfg, err := configure(c, command)
			if err == nil {
				*status = run(c.Context, cfg)
			}
			return err
		},
	}
}

func flags() []cli.Flag {
	text := func(name, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage + " [" + variable(name) + "]"}
	}
	return []cli.Flag{
		text("config", "read settings, and policies of single tools, from the YAML `FILE`"),
		text("after", "answer directly up to this `DURATION` (5s), then make the call a task"),
		text("state-dir", "keep the tasks in `DIR`, which one process may use at a time (default: one for each server command)"),
		text("log-level", "log from this `LEVEL` (info) on: trace, debug, info, warn or error"),
		&cli.BoolFlag{Name: "log-payloads", Usage: "show arguments and results in logs [" + variable("log-payloads") + "]"},
	}
}

func configCommand(command []string) *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "work with configuration files", HideHelpCommand: true, OnUsageError: usageError,
		Action: func(*cli.Context) error {
			return wrong("config has one subcommand, check; write mcp-taskproxy config check FILE")
		},
		Subcommands: []*cli.Command{{
			Name: "check", Usage: "say what is wrong with a file", ArgsUsage: "FILE", HideHelpCommand: true, OnUsageError: usageError,
			Action: func(c *cli.Context) error { return check(append(c.Args().Slice(), command...)) },
		}},
	}
}

func check(files []string) error {
	if len(files) != 1 {
		return wrong("config check takes one file; write mcp-taskproxy config check FILE")
	}
	cfg, err := loadFile("config check", files[0], nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: ok: %v; %d entries under tools\n", files[0], cfg.Policy, len(cfg.Tools))
	return nil
}

// configure lets flags win over variables, and these over the file.
func configure(c *cli.Context, command []string) (config.Config, error) {
	if c.Args().Present() {
		return config.Config{}, wrong("unknown command %q; the server's command goes after --: mcp-taskproxy -- COMMAND [ARG...]", c.Args().First())
	}
	opts := &config.Options{}
	afterErr := override(c, "after", &opts.After, parseAfter)
	cfg, fileErr := load(c, opts)
	err := errors.Join(afterErr, fileErr,
		override(c, "state-dir", &cfg.StateDir, parseDir),
		override(c, "log-level", &cfg.LogLevel, config.ParseLogLevel),
		override(c, "log-payloads", &cfg.LogPayloads, config.ParseBool))
	if err != nil {
		return cfg, err
	}
	if len(command) > 0 {
		cfg.Command = command
	}
	return complete(cfg)
}

func load(c *cli.Context, opts *config.Options) (config.Config, error) {
	var path string
	if err := override(c, "config", &path, parseDir); err != nil || path == "" {
		cfg, _ := config.Parse("", nil, opts)
		return cfg, err
	}
	name, _, _ := lookup(c, "config")
	return loadFile(name, path, opts)
}

// loadFile leaves mistakes in the file as they are, FILE:LINE:COL first, and
// names who asked for a file that cannot be read.
func loadFile(asked, path string, opts *config.Options) (config.Config, error) {
	cfg, err := config.Load(path, opts)
	if unreadable := (*fs.PathError)(nil); errors.As(err, &unreadable) {
		return cfg, wrong("%s: %v", asked, err)
	}
	return cfg, err
}

// complete checks the command and finds the directory that goes with it.
func complete(cfg config.Config) (config.Config, error) {
	if len(cfg.Command) == 0 {
		return cfg, wrong("no server to start; write its command after --: mcp-taskproxy -- COMMAND [ARG...]")
	}
	if err := config.CheckProgram(cfg.Command[0]); err != nil {
		return cfg, wrong("%v", err)
	}
	if cfg.StateDir != "" {
		return cfg, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return cfg, wrong("%v; start it in a directory that exists", err)
	}
	if cfg.StateDir, err = config.DefaultStateDir(cfg.Command, dir); err != nil {
		return cfg, wrong("%v", err)
	}
	return cfg, nil
}

func variable(flag string) string {
	return "MCP_TASKPROXY_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// lookup returns what a flag or else its variable says, and which of the two
// said it. An empty variable says nothing.
func lookup(c *cli.Context, flag string) (name, value string, given bool) {
	if c.IsSet(flag) {
		return "--" + flag, c.String(flag), true
	}
	value = os.Getenv(variable(flag))
	return variable(flag), value, value != ""
}

func override[T any](c *cli.Context, flag string, dst *T, parse func(string) (T, error)) error {
	name, value, given := lookup(c, flag)
	if !given {
		return nil
	}
	v, err := parse(value)
	if err != nil {
		return wrong("%s: %v", name, err)
	}
	*dst = v
	return nil
}

func parseAfter(s string) (*time.Duration, error) {
	d, err := config.ParseDuration("after", s)
	return &d, err
}

func parseDir(s string) (string, error) {
	if s == "" {
		return "", errors.New("the path is empty; write one")
	}
	return config.ExpandHome(s)
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("mcp-taskproxy: "+format, args...)
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
