// Legacy is an ordinary MCP server of the initialize era. It knows nothing of
// server/discover or of the proxy in front of it, and of tasks only with -tasks:
// those of revision 2025-11-25.
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
