package e2e

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connectGoHTTP is the Go SDK's client over HTTP. It answers questions.
func connectGoHTTP(t *testing.T, url, version string) (h goHost, asked chan string) {
	t.Helper()
	h, asked = goHost{wire: &tap{}, progress: make(chan float64, 100)}, make(chan string, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e-go", Version: "1.0.0"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			h.progress <- r.Params.Progress
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- r.Params.Message
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"ok": true}}, nil
		},
	})
	transport := &mcp.LoggingTransport{Transport: &mcp.StreamableClientTransport{Endpoint: url}, Writer: h.wire}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connecting: %v\n%s", err, cut(h.wire.String()))
	}
	t.Cleanup(func() { _ = session.Close() })
	h.ClientSession = session
	return h, asked
}

func TestGoSDKClientOverHTTP(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for _, server := range []string{"legacy", "modern"} {
			t.Run(version+" host, "+server+" server", func(t *testing.T) {
				t.Parallel()
				p, _ := proxyAround(t, server)
				if server == "legacy" {
					p.Upstream = append(p.Upstream, "-version", "2025-11-25")
				}
				h, asked := connectGoHTTP(t, p.listen(t).url, version)
				checkGoTools(t, h)
				checkGoCall(t, h)
				checkGoAsked(t, h, asked)
			})
		}
	}
}

func checkGoAsked(t *testing.T, h goHost, asked chan string) {
	t.Helper()
	result, err := h.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: json.RawMessage(`{}`)})
	if err != nil || result.Content[0].(*mcp.TextContent).Text != "answered" {
		t.Errorf("ask: %v, %v\n%s", result, err, cut(h.wire.String()))
	}
	if question := within(t, asked); question != "Go on?" {
		t.Errorf("the question was %q", question)
	}
}
