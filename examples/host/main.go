// Command host is a small MCP host of the stateless era (2026-07-28) that
// declares the Tasks extension. It calls the slow tool of a server behind
// mcp-taskproxy and shows what a task looks like from the host's side:
//
//	go run ./examples/host
//
// builds the proxy and examples/slowserver, calls build, and ends its proxy in
// the middle of the work, as a host does whose window is closed. Then it starts
// the proxy again, as the next window does, and follows the task to its result by
// its id. With -state-dir the tasks are kept, and -task collects one of an
// earlier run:
//
//	go run ./examples/host -state-dir /tmp/tasks
//	go run ./examples/host -state-dir /tmp/tasks -task ID
//
// client.go is the protocol, follow.go the life of one task.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

type options struct {
	proxy, server, stateDir, task string
	after                         time.Duration
	seconds                       float64
}

func main() {
	var o options
	flag.StringVar(&o.proxy, "proxy", "", "the mcp-taskproxy to run (default: built from this module)")
	flag.StringVar(&o.server, "server", "", "the server to wrap (default: examples/slowserver, built)")
	flag.StringVar(&o.stateDir, "state-dir", "", "where the proxy keeps tasks (default: a temporary directory)")
	flag.StringVar(&o.task, "task", "", "collect this task of an earlier run instead of calling a tool")
	flag.DurationVar(&o.after, "after", 2*time.Second, "the proxy answers directly up to here")
	flag.Float64Var(&o.seconds, "seconds", 8, "how long the tool takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := demo(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "taskproxy-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := prepare(ctx, &o, dir); err != nil {
		return err
	}
	if o.task != "" {
		return withProxy(o, func(c *client) error { return follow(ctx, c, o.task, toTheEnd) })
	}
	if strings.HasPrefix(o.stateDir, dir) {
		defer stopRunner(o)
	}
	id := ""
	err = withProxy(o, func(c *client) (err error) { id, err = callBuild(ctx, c, o.seconds); return err })
	if err != nil || id == "" {
		return err
	}
	say("this window is closed in the middle of it; opening the next one, on %s", o.stateDir)
	return withProxy(o, func(c *client) error { return follow(ctx, c, id, toTheEnd) })
}

// prepare builds what no flag named.
func prepare(ctx context.Context, o *options, dir string) error {
	if o.stateDir == "" {
		o.stateDir = filepath.Join(dir, "state")
	}
	const module = "github.com/mcp-taskproxy/mcp-taskproxy"
	if err := build(ctx, &o.proxy, dir, module); err != nil {
		return err
	}
	return build(ctx, &o.server, dir, module+"/examples/slowserver")
}

// withProxy lets use talk to a proxy and ends it as hosts do: by closing its
// standard input.
func withProxy(o options, use func(*client) error) error {
	c, err := start(o.proxy, "--log-level", "warn", "--after", o.after.String(), "--state-dir", o.stateDir, "--", o.server)
	if err != nil {
		return err
	}
	defer c.close()
	return use(c)
}

// stopRunner spares the temporary directory the seconds for which the runner
// waits for another window.
func stopRunner(o options) {
	if out, err := exec.Command(o.proxy, "stop", "--state-dir", o.stateDir).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "host: %v\n%s", err, out)
	}
}

var began = time.Now()

func say(format string, args ...any) {
	fmt.Printf("%5.1fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}
