package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type greeting struct {
	Name string `json:"name"`
}

func greet(_ context.Context, _ *mcp.CallToolRequest, in greeting) (*mcp.CallToolResult, any, error) {
	return text("Hello, %s!", in.Name), nil, nil
}

type computation struct {
	Seconds float64 `json:"seconds,omitempty" jsonschema:"how long the work takes"`
	Label   string  `json:"label,omitempty" jsonschema:"what to call it in progress and result"`
}

func slowCompute(ctx context.Context, req *mcp.CallToolRequest, in computation) (*mcp.CallToolResult, any, error) {
	for done := 0.0; done < in.Seconds; done++ {
		report(ctx, req, done, in)
		if err := work(ctx, min(1, in.Seconds-done)); err != nil {
			return nil, nil, err
		}
	}
	return text("computed %q in %g s", in.Label, in.Seconds), nil, nil
}

// report tells a caller that asked for progress; one that left needs none.
func report(ctx context.Context, req *mcp.CallToolRequest, done float64, in computation) {
	if token := req.Params.GetProgressToken(); token != nil {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: done, Total: in.Seconds, Message: in.Label,
		})
	}
}

func failingJob(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
	return nil, nil, cmp.Or(work(ctx, 1), errors.New("the job crashed, as it always does"))
}

func protocolErrorJob(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
	return nil, nil, cmp.Or[error](work(ctx, 0.5), &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "this tool has no result, only this error"})
}

// work passes the time until the call is cancelled.
func work(ctx context.Context, seconds float64) error {
	timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}
