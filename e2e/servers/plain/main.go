// Plain is an ordinary server: it knows nothing of tasks, and offers the tools
// that the tasks scenarios of the official conformance suite call, and one that
// asks twice. What these find of tasks is the doing of the proxy before it.
//
//	plain                                        stdio, both eras
//	plain -http localhost:PORT                   Streamable HTTP, revision 2026-07-28
//	plain -http localhost:PORT -stateless=false  Streamable HTTP, sessions up to revision 2025-11-25
//
// The endpoint answers on every path.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	addr := flag.String("http", "", "serve Streamable HTTP on `HOST:PORT` instead of stdio")
	stateless := flag.Bool("stateless", true, "over HTTP: keep no sessions, as revision 2026-07-28 wants it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, *stateless); err != nil {
		fmt.Fprintln(os.Stderr, "plain:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string, stateless bool) error {
	server := newServer()
	if addr != "" {
		return serveHTTP(ctx, server, addr, stateless)
	}
	if err := server.Run(ctx, &mcp.StdioTransport{}); ctx.Err() == nil {
		return err
	}
	return nil
}

// serveHTTP ends with ctx and takes open calls with it: there is nothing to save.
func serveHTTP(ctx context.Context, server *mcp.Server, addr string, stateless bool) error {
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: stateless})
	web := &http.Server{Addr: addr, Handler: handler}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })()
	if err := web.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "plain-fixture", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "greet", Description: "Greets by name, at once."}, greet)
	mcp.AddTool(s, &mcp.Tool{Name: "slow_compute", Description: "Works for some seconds and reports progress."}, slowCompute)
	mcp.AddTool(s, &mcp.Tool{Name: "failing_job", Description: "Ends with a tool error after a second."}, failingJob)
	mcp.AddTool(s, &mcp.Tool{Name: "protocol_error_job", Description: "Ends with a JSON-RPC error after half a second."}, protocolErrorJob)
	mcp.AddTool(s, &mcp.Tool{Name: "confirm_delete", Description: "Asks for one confirmation before it goes on."}, confirmDelete)
	mcp.AddTool(s, &mcp.Tool{Name: "multi_input", Description: "Asks two questions at once before it goes on."}, multiInput)
	mcp.AddTool(s, &mcp.Tool{Name: "test_tool_with_task", Description: "Asks for a name, then works for a moment."}, nameThenWork)
	mcp.AddTool(s, &mcp.Tool{Name: "ask_twice", Description: "Asks two questions, one after the other."}, askTwice)
	return s
}
