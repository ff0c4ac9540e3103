// Sdkecho is a server as one would write it with the Go SDK: its one tool
// returns its argument.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type arguments struct {
	X string `json:"x"`
}

func echo(_ context.Context, _ *mcp.CallToolRequest, args arguments) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: args.X}}}, nil, nil
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "sdkecho", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "returns x"}, echo)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "sdkecho:", err)
	}
}
