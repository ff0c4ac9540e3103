// Modern is an ordinary MCP server of revision 2026-07-28 and no other. It has
// no tasks of its own.
package main

import (
	"flag"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/servers/internal/rawmcp"
)

func main() {
	var opts rawmcp.Options
	opts.Register(flag.CommandLine)
	flag.Parse()
	rawmcp.ServeStateless(opts)
}
