// Pump starts the command behind "--" and carries messages both ways over the
// message layer of the Go SDK, which decodes and encodes each. It is the
// simplest proxy that one would write with it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	dashes := slices.Index(os.Args, "--")
	if dashes < 0 {
		fmt.Fprintln(os.Stderr, "pump: want -- COMMAND [ARG...]")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[dashes+1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pump:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string) error {
	server, err := (&mcp.CommandTransport{Command: exec.Command(command[0], command[1:]...)}).Connect(ctx)
	if err != nil {
		return err
	}
	host, err := (&mcp.StdioTransport{}).Connect(ctx)
	if err != nil {
		return err
	}
	go pump(ctx, server, host)
	pump(ctx, host, server)
	return server.Close()
}

// pump ends when either side does.
func pump(ctx context.Context, from, to mcp.Connection) {
	for {
		m, err := from.Read(ctx)
		if err != nil {
			return
		}
		if err := to.Write(ctx, m); err != nil {
			return
		}
	}
}
