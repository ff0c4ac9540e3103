// Legacy is an ordinary MCP server of the initialize era. It knows nothing of
// server/discover, of tasks, or of the proxy in front of it.
package main

import (
	"flag"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/servers/internal/rawmcp"
)

func main() {
	var opts rawmcp.Options
	opts.Register(flag.CommandLine)
	opts.RegisterInitialize(flag.CommandLine)
	flag.Parse()
	rawmcp.ServeInitialize(opts)
}
