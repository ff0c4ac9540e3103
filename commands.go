package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/mcp-taskproxy/mcp-taskproxy/config"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/runner"
)

func stateDirFlag() []cli.Flag {
	return []cli.Flag{&cli.StringFlag{Name: "state-dir", Usage: "look at the runner of `DIR` only, wherever that is [" + variable("state-dir") + "]"}}
}

func psCommand(command []string) *cli.Command {
	return &cli.Command{
		Name: "ps", Usage: "show runners, their windows and servers, and the tasks that run", HideHelpCommand: true,
		Flags: stateDirFlag(), OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			all, err := runners(c, command)
			return errors.Join(err, show(os.Stdout, all))
		},
	}
}

func stopCommand(command []string) *cli.Command {
	return &cli.Command{
		Name: "stop", Usage: "end runners: what still runs has some seconds, and is recorded as failed then", HideHelpCommand: true,
		Flags: stateDirFlag(), OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			all, err := runners(c, command)
			for _, status := range all {
				stopped, stopErr := runner.Stop(c.Context, status.StateDir, release())
				if err = errors.Join(err, stopErr); stopped && stopErr == nil {
					fmt.Fprintf(os.Stderr, "mcp-taskproxy: stopped the runner of %s (process %d)\n", status.StateDir, status.PID)
				}
			}
			return err
		},
	}
}

// runners asks those of the default directories, or of the one that is named, and
// says so if there is none.
func runners(c *cli.Context, command []string) (all []runner.Status, err error) {
	dirs, err := stateDirs(c, command)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		status, askErr := runner.Ask(dir, release())
		if askErr != nil {
			err = errors.Join(err, wrong("%s: %v", dir, askErr))
		} else if status != nil {
			all = append(all, *status)
		}
	}
	if len(all) == 0 && err == nil {
		return nil, nobody(c, dirs)
	}
	return all, err
}

// nobody says that there is no runner, and of a directory that was named, why.
func nobody(c *cli.Context, dirs []string) error {
	named, err := namedDir(c)
	if err != nil || named == "" {
		fmt.Fprintln(os.Stderr, "mcp-taskproxy: nothing runs (proxies with --listen or --detach never are not looked for)")
		return err
	}
	dir := dirs[0]
	text := "nothing runs in " + dir
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		text += ", which does not exist"
	} else if pid := runner.Holder(dir); pid != 0 {
		text = fmt.Sprintf("%s has no runner: process %d has it for itself (--listen, or --detach never); its own log says what runs, and SIGTERM ends it", dir, pid)
	}
	fmt.Fprintln(os.Stderr, "mcp-taskproxy: "+text)
	return nil
}

func stateDirs(c *cli.Context, command []string) ([]string, error) {
	if words := append(c.Args().Slice(), command...); len(words) > 0 {
		return nil, wrong("%q is not expected here; name a runner by its --state-dir", words[0])
	}
	dir, err := namedDir(c)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		dir, err := filepath.Abs(dir)
		return []string{dir}, err
	}
	root, err := config.StateRoot()
	if err != nil {
		return nil, wrong("%v", err)
	}
	return runner.Dirs(root), nil
}

// namedDir may stand before the command, too.
func namedDir(c *cli.Context) (dir string, err error) {
	for _, ctx := range c.Lineage() {
		if ctx.App != nil && dir == "" {
			if err := override(ctx, "state-dir", &dir, parsePath); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
}

// show is the one thing that is written to standard output beside the protocol:
// it was asked for.
func show(out io.Writer, all []runner.Status) error {
	for _, status := range all {
		ending := ""
		if status.Ending {
			ending = ", ending"
		}
		fmt.Fprintf(out, "runner %d, version %s, since %s, %s%s\n", status.PID, status.Version, clock(status.Since), status.StateDir, ending)
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, s := range status.Sessions {
			fmt.Fprintf(table, "  %s\t%s\t%s\tsince %s\n", window(s), s.Program, servers(s.Upstreams), clock(s.Since))
		}
		for _, t := range status.Tasks {
			fmt.Fprintf(table, "  task %s\t%q\t%s\tsince %s\n", t.ID, t.Tool, standing(string(t.Status), t.Message), clock(t.Since))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func servers(pids []int) string {
	if len(pids) == 0 {
		return "no server yet"
	}
	return "server " + strings.Trim(fmt.Sprint(pids), "[]")
}

func standing(status, message string) string {
	if message == "" {
		return status
	}
	return fmt.Sprintf("%s %q", status, message)
}

func window(s runner.SessionStatus) string {
	if s.Front == 0 {
		return "window gone"
	}
	return fmt.Sprintf("window %d", s.Front)
}

// repair says what was moved. A store that another process has open needs none.
func repair(stateDir string) error {
	moved, err := runner.Repair(stateDir)
	switch {
	case err != nil:
		return wrong("%v", err)
	case moved != "":
		fmt.Fprintln(os.Stderr, wrong("the damaged task store was moved to %s, and a new one is begun: the tasks in it are not served any more", moved))
	}
	return nil
}

func clock(t time.Time) string { return t.Local().Format(time.DateTime) }

// runnerCommand is what a front starts. It starts itself once more and ends, so
// that what follows is nobody's child: a keeper, and below that the runner.
func runnerCommand() *cli.Command {
	return &cli.Command{
		Name: "runner", Hidden: true, HideHelpCommand: true, OnUsageError: usageError,
		Flags: []cli.Flag{&cli.StringFlag{Name: "state-dir", Required: true}, &cli.StringFlag{Name: "node"},
			&cli.IntFlag{Name: "stored"}, &cli.Int64Flag{Name: "store-bytes"}, &cli.BoolFlag{Name: "keeper"}, &cli.BoolFlag{Name: "forked"}},
		Action: func(c *cli.Context) error {
			dir := c.String("state-dir")
			if err := runner.CheckStarted(dir); err != nil {
				return wrong("%v", err)
			}
			again := func(role string) []string { return append([]string{"runner", role}, storageOf(c).Flags()...) }
			switch {
			case c.Bool("forked"):
				return serveRunner(c)
			case c.Bool("keeper"):
				return runner.Keep(dir, again("--forked"))
			default:
				return runner.Fork(again("--keeper"))
			}
		},
	}
}

func storageOf(c *cli.Context) runner.Storage {
	return runner.Storage{StateDir: c.String("state-dir"), Node: c.String("node"), Stored: c.Int("stored"), StoreBytes: c.Int64("store-bytes")}
}

// The runner's log takes a megabyte, twice. What a session manager sends besides
// SIGTERM must not cut the graces short.
func serveRunner(c *cli.Context) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	sink := &lumberjack.Logger{Filename: runner.LogPath(c.String("state-dir")), MaxSize: 1, MaxBackups: 1}
	defer sink.Close()
	log, flush := runner.NewLogOn(sink, "info")
	defer flush()
	err := runner.Serve(c.Context, runner.ServeOptions{
		Storage: storageOf(c), Version: release(),
		Log: log, Sink: sink, Ready: runner.Report,
	})
	if err != nil {
		log.Error().Err(err).Msg("the runner has ended")
	}
	return err
}
