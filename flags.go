package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mcp-taskproxy/mcp-taskproxy/config"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/runner"
)

func flags() []cli.Flag {
	text := func(name, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage + " [" + variable(name) + "]"}
	}
	return []cli.Flag{
		text("url", "speak to the server at `URL` over HTTP, instead of starting one"),
		&cli.StringSliceFlag{Name: "header", Usage: "send the header `'NAME: VALUE'` to --url; secrets belong in the file or variable, as others can read command lines; repeatable [" + variable("header") + ", one a line]"},
		text("listen", "serve hosts over HTTP on `HOST:PORT`, instead of one on standard input and output"),
		text("endpoint", "serve them at this `PATH` (/mcp)"),
		text("tls-cert", "serve HTTPS with the certificate chain of the PEM `FILE`"),
		text("tls-key", "and with the private key of the PEM `FILE`"),
		text("tokens", "admit who shows a token of `FILE`"),
		&cli.BoolFlag{Name: "allow-unauthenticated", Usage: "listen beyond this machine though everybody is admitted [" + variable("allow-unauthenticated") + "]"},
		text("config", "read settings, and policies of single tools, from the YAML `FILE`"),
		text("after", "answer directly up to this `DURATION` (5s), then make the call a task"),
		text("fallback-after", "give hosts without tasks a ticket in the place of the answer after this `DURATION` (off)"),
		text("state-dir", "keep the tasks in `DIR` (default: one for each server and folder)"),
		&cli.BoolFlag{Name: "repair", Usage: "move a task store aside that is too damaged to be opened, and begin a new one"},
		text("detach", "let tasks go on when the host is gone: `auto` or never"),
		text("log-level", "log from this `LEVEL` (info) on: trace, debug, info, warn or error"),
		&cli.BoolFlag{Name: "log-payloads", Usage: "show arguments and results in logs [" + variable("log-payloads") + "]"},
	}
}

// configure lets flags win over variables, and these over the file.
func configure(c *cli.Context, command []string) (config.Config, error) {
	if c.Args().Present() {
		return config.Config{}, stray(c)
	}
	opts := &config.Options{}
	afterErr := errors.Join(
		override(c, "after", &opts.After, durationOf("after")),
		override(c, "fallback-after", &opts.FallbackAfter, durationOf("fallback_after")))
	cfg, fileErr := load(c, opts)
	err := errors.Join(afterErr, fileErr,
		overrideServer(c, &cfg, command),
		overrideListen(c, &cfg.Listen),
		override(c, "state-dir", &cfg.StateDir, parsePath),
		override(c, "detach", &cfg.Detach, config.ParseDetach),
		override(c, "log-level", &cfg.LogLevel, config.ParseLogLevel),
		override(c, "log-payloads", &cfg.LogPayloads, config.ParseBool))
	if err != nil {
		return cfg, err
	}
	return complete(cfg)
}

// overrideServer lets the command line name another server than a variable
// does, and this another one than the file: never two at once.
func overrideServer(c *cli.Context, cfg *config.Config, command []string) error {
	_, _, url := lookup(c, "url")
	switch {
	case len(command) > 0 && c.IsSet("url"):
		return wrong("both --url and a command after -- are given; keep --url for a server that runs elsewhere, or the command for one to start")
	case len(command) > 0:
		cfg.Command, cfg.URL = command, ""
	case url:
		cfg.Command = nil
		return errors.Join(override(c, "url", &cfg.URL, config.ParseURL), overrideHeaders(c, cfg))
	}
	return overrideHeaders(c, cfg)
}

// overrideHeaders replaces headers one by one, by their names.
func overrideHeaders(c *cli.Context, cfg *config.Config) error {
	lines := strings.FieldsFunc(os.Getenv(variable("header")), func(c rune) bool { return c == '\n' || c == '\r' })
	for _, source := range []struct {
		name  string
		texts []string
	}{{variable("header"), lines}, {"--header", c.StringSlice("header")}} {
		headers, err := config.ParseHeaders(source.texts)
		if err != nil {
			return wrong("%s: %v", source.name, err)
		}
		cfg.Headers = config.MergeHeaders(cfg.Headers, headers)
	}
	return nil
}

func overrideListen(c *cli.Context, l *config.Listen) error {
	tokens := ""
	err := errors.Join(
		override(c, "listen", &l.Address, config.ParseListen),
		override(c, "endpoint", &l.Endpoint, config.ParseEndpoint),
		override(c, "tls-cert", &l.TLS.Cert, parsePath),
		override(c, "tls-key", &l.TLS.Key, parsePath),
		override(c, "tokens", &tokens, parsePath),
		override(c, "allow-unauthenticated", &l.AllowUnauthenticated, config.ParseBool))
	if tokens != "" {
		l.Auth = config.Auth{Tokens: tokens} // in place of an issuer, too
	}
	return err
}

// stray does not show a word that could be the value of a header, which the
// shell parted from its name.
func stray(c *cli.Context) error {
	if c.IsSet("header") {
		return wrong("a word stands alone in front of --; write a header in quotes, --header 'Name: value', and the server's command after --")
	}
	return wrong("unknown command %q; the server's command goes after --: mcp-taskproxy -- COMMAND [ARG...]", c.Args().First())
}

func load(c *cli.Context, opts *config.Options) (config.Config, error) {
	var path string
	if err := override(c, "config", &path, parsePath); err != nil || path == "" {
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

func checkTokens(cfg config.Config) error {
	if cfg.Listen.Address == "" || cfg.Listen.Auth.Tokens == "" {
		return nil
	}
	return runner.CheckTokens(cfg.Listen.Auth.Tokens)
}

// complete checks the whole, and finds the directory that goes with it.
func complete(cfg config.Config) (config.Config, error) {
	err := errors.Join(checkServer(cfg), cfg.Check(), config.CheckKeyPair(cfg.Listen.TLS), checkTokens(cfg))
	if err != nil {
		return cfg, eachWrong(err)
	}
	if cfg.StateDir != "" {
		return cfg, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return cfg, wrong("%v; start it in a directory that exists", err)
	}
	if cfg.StateDir, err = cfg.DefaultStateDir(dir); err != nil {
		return cfg, wrong("%v", err)
	}
	return cfg, nil
}

func checkServer(cfg config.Config) error {
	switch {
	case cfg.URL != "":
		return nil
	case len(cfg.Command) == 0:
		return errors.New("no server to start or speak to; write its command after --, mcp-taskproxy -- COMMAND [ARG...], or its address, mcp-taskproxy --url URL")
	}
	return config.CheckProgram(cfg.Command[0])
}

// secrets reads what the headers for the server name, if it gets any.
func secrets(cfg config.Config) (http.Header, error) {
	if cfg.URL == "" {
		return nil, nil
	}
	return config.HeaderValues(cfg.Headers)
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

func durationOf(key string) func(string) (*time.Duration, error) {
	return func(s string) (*time.Duration, error) {
		d, err := config.ParseDuration(key, s)
		return &d, err
	}
}

func parsePath(s string) (string, error) {
	if s == "" {
		return "", errors.New("the path is empty; write one")
	}
	return config.ExpandHome(s)
}

// eachWrong gives every error of a join a line like those of wrong.
func eachWrong(err error) error {
	return wrong("%s", strings.ReplaceAll(err.Error(), "\n", "\nmcp-taskproxy: "))
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("mcp-taskproxy: "+format, args...)
}
