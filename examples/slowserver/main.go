// Command slowserver is an ordinary MCP server with a tool that takes its
// time. It knows nothing of tasks; mcp-taskproxy in front of it makes them:
//
//	mcp-taskproxy -- slowserver
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "slowserver", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "build", Description: "Build a target; takes a while."}, build)
	mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "Say hello, at once."}, greet)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Print(err)
	}
}

type buildArgs struct {
	Target  string  `json:"target,omitempty" jsonschema:"what to build, app if absent"`
	Seconds float64 `json:"seconds,omitempty" jsonschema:"how long it takes, 8 if absent, 3600 at most"`
}

const step = 500 * time.Millisecond

// build compiles one package in every step, until the host cancels the call.
func build(ctx context.Context, req *mcp.CallToolRequest, args buildArgs) (*mcp.CallToolResult, any, error) {
	if args.Target == "" {
		args.Target = "app"
	}
	if args.Seconds <= 0 {
		args.Seconds = 8
	}
	packages := int(math.Ceil(min(args.Seconds, 3600) / step.Seconds()))
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for i := range packages {
		select {
		case <-ctx.Done():
			log.Printf("build of %s cancelled at package %d of %d", args.Target, i, packages)
			return nil, nil, ctx.Err()
		case <-ticker.C:
			report(ctx, req, i+1, packages)
		}
	}
	return text("built %s: %d packages, no errors", args.Target, packages), nil, nil
}

// report is for hosts that asked for progress by giving a token.
func report(ctx context.Context, req *mcp.CallToolRequest, done, of int) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return
	}
	err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(done), Total: float64(of),
		Message: fmt.Sprintf("compiling pkg %d/%d", done, of),
	})
	if err != nil {
		log.Printf("progress: %v", err)
	}
}

type greetArgs struct {
	Name string `json:"name,omitempty" jsonschema:"whom to greet"`
}

func greet(_ context.Context, _ *mcp.CallToolRequest, args greetArgs) (*mcp.CallToolResult, any, error) {
	if args.Name == "" {
		args.Name = "world"
	}
	return text("Hello, %s!", args.Name), nil, nil
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}
