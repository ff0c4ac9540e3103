package upstream

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// sdkServer is a server that knows nothing of us, in either era.
func sdkServer(t *testing.T, opts *mcp.StreamableHTTPOptions) *httptest.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	type arguments struct {
		Who string `json:"who"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, func(ctx context.Context, r *mcp.CallToolRequest, a arguments) (*mcp.CallToolResult, any, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Message: "hm"})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + a.Who}}}, nil, nil
	})
	s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, opts))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func TestTheServerOfTheGoSDKIsSpokenInBothEras(t *testing.T) {
	for name, c := range map[string]struct {
		opts *mcp.StreamableHTTPOptions
		host Era
		want Era
	}{
		"sessions":                       {&mcp.StreamableHTTPOptions{}, Initialize, Initialize},
		"sessions, answers in JSON":      {&mcp.StreamableHTTPOptions{JSONResponse: true}, Initialize, Initialize},
		"sessions, stateless host":       {&mcp.StreamableHTTPOptions{}, Stateless, Initialize},
		"stateless":                      {&mcp.StreamableHTTPOptions{Stateless: true}, Stateless, Stateless},
		"stateless, answers in JSON":     {&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}, Stateless, Stateless},
		"stateless, of initialize's era": {&mcp.StreamableHTTPOptions{Stateless: true}, Initialize, Initialize},
	} {
		t.Run(name, func(t *testing.T) {
			client := dial(t, sdkServer(t, c.opts).URL, func(o *Options) { o.Hello.Era = c.host })
			desc, err := client.Connect(t.Context())
			if err != nil || desc.Era != c.want {
				t.Fatalf("era %v, %v; want %v", desc.Era, err, c.want)
			}
			progress := make(chan wire.Message, 1)
			got := send(t, client, "tools/call", `{"name":"greet","arguments":{"who":"World"}}`, func(r *Request) {
				if !c.opts.JSONResponse {
					r.Notify = func(m wire.Message) { progress <- m }
				}
			}).result()
			if !strings.Contains(got, "Hello, World") {
				t.Errorf("the result is %s", got)
			}
			if !c.opts.JSONResponse && len(progress) != 1 {
				t.Errorf("%d notes of progress", len(progress))
			}
		})
	}
}

func TestASessionThatTheServerOfTheGoSDKHasClosedIsOpenedAgain(t *testing.T) {
	server := sdkServer(t, &mcp.StreamableHTTPOptions{})
	client := dial(t, server.URL, older)
	if _, err := client.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	client.mu.Lock()
	session, _ := client.conn.link.(*httpLink).known()
	client.mu.Unlock()
	end, err := http.NewRequest(http.MethodDelete, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	end.Header.Set(headerSession, session)
	if resp, err := http.DefaultClient.Do(end); err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatalf("DELETE: %v, %v", resp, err)
	}
	if got := ask(t, client, "tools/list", `{}`); !strings.Contains(got, "greet") {
		t.Errorf("the list is %s", got)
	}
}

func TestTheOldTransportOfTheGoSDKIsSpoken(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello"}}}, nil, nil
	})
	s := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil))
	defer s.Close()
	defer s.CloseClientConnections()
	client := dial(t, s.URL, nil)
	if got := ask(t, client, "tools/call", `{"name":"greet","arguments":{}}`); !strings.Contains(got, "Hello") {
		t.Errorf("the result is %s", got)
	}
	doing(t, "Close", func() { client.Close(t.Context()) })
}
