// Modern is an ordinary MCP server of revision 2026-07-28 and no other. It has
// tasks of its own only with -tasks, as the Tasks extension has them.
package main

import (
	"flag"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/servers/internal/rawmcp"
)

func main() {
	var opts rawmcp.Options
	opts.Register(flag.CommandLine)
	opts.RegisterStateless(flag.CommandLine)
	flag.Parse()
	rawmcp.ServeStateless(opts)
}
