package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goHost is the Go SDK's client with a tap on the wire, because it shows no task.
type goHost struct {
	*mcp.ClientSession
	wire     *tap
	progress chan float64
}

// tap is a buffer that two goroutines may write.
type tap struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (w *tap) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes.Write(p)
}

func (w *tap) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bytes.String()
}

func connectGo(t *testing.T, p *proxied, version string, capabilities *mcp.ClientCapabilities) goHost {
	t.Helper()
	h := goHost{wire: &tap{}, progress: make(chan float64, 100)}
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e-go", Version: "1.0.0"}, &mcp.ClientOptions{
		Capabilities: capabilities,
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			h.progress <- r.Params.Progress
		},
	})
	if err := mcp.AddSendingCustomMethod[*taskParams, *taskResult](client, "tasks/get"); err != nil {
		t.Fatal(err)
	}
	argv := p.argv(t)
	command := exec.Command(argv[0], argv[1:]...)
	transport := &mcp.LoggingTransport{Transport: &mcp.CommandTransport{Command: command}, Writer: h.wire}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connecting: %v\n%s", err, cut(h.wire.String()))
	}
	t.Cleanup(func() { _ = session.Close() })
	h.ClientSession = session
	return h
}

func TestGoSDKClientInBothEras(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for _, server := range []string{"legacy", "modern"} {
			t.Run(version+" host, "+server+" server", func(t *testing.T) {
				t.Parallel()
				p, _ := proxyAround(t, server)
				h := connectGo(t, p, version, nil)
				checkGoTools(t, h)
				checkGoCall(t, h)
			})
		}
	}
}

func checkGoTools(t *testing.T, h goHost) {
	t.Helper()
	list, err := h.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) < 10 {
		t.Fatalf("tools/list: %v, %v", list, err)
	}
	read, err := h.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "mem://one"})
	if err != nil || read.Contents[0].Text != "1.0" {
		t.Errorf("resources/read: %v, %v", read, err)
	}
}

func checkGoCall(t *testing.T, h goHost) {
	t.Helper()
	params := &mcp.CallToolParams{Name: "gate", Arguments: json.RawMessage(`{"gate":"a","say":[{"progress":4}]}`)}
	params.SetProgressToken("p")
	answered := make(chan error, 1)
	go func() {
		result, err := h.CallTool(t.Context(), params)
		if err == nil && result.Content[0].(*mcp.TextContent).Text != "gate open" {
			t.Errorf("result: %v", result.Content[0])
		}
		answered <- err
	}()
	if got := within(t, h.progress); got != 4 {
		t.Errorf("progress %v, want 4", got)
	}
	if _, err := h.CallTool(t.Context(), &mcp.CallToolParams{Name: "release", Arguments: json.RawMessage(`{"gate":"a"}`)}); err != nil {
		t.Errorf("release: %v", err)
	}
	if err := within(t, answered); err != nil {
		t.Errorf("gate: %v", err)
	}
}

// within receives, or fails the test in good time.
func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case v := <-c:
		return v
	case <-late.C:
		t.Fatalf("nothing within %v", patience)
		panic("unreachable")
	}
}

type taskParams struct {
	mcp.ParamsBase
	TaskID string `json:"taskId"`
}

type taskResult struct {
	mcp.ResultBase
	Status string          `json:"status"`
	Result json.RawMessage `json:"result"`
}

// The SDK knows no tasks, yet it can carry them: declared as an extension, read
// with a method of one's own.
func TestGoSDKClientCollectsTask(t *testing.T) {
	p, _ := proxyAround(t, "legacy")
	p.Config = "task: always\n"
	declared := &mcp.ClientCapabilities{Extensions: map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}}
	h := connectGo(t, p, "2026-07-28", declared)
	_, _ = h.CallTool(t.Context(), &mcp.CallToolParams{Name: "release", Arguments: map[string]any{}})
	id := taskOnWire(t, h.wire.String())
	late := time.Now().Add(patience)
	for {
		got, err := mcp.CallCustomMethod[*taskParams, *taskResult](t.Context(), h.ClientSession, "tasks/get", &taskParams{TaskID: id})
		if err != nil || time.Now().After(late) {
			t.Fatalf("tasks/get: %v, %v", got, err)
		}
		if got.Status == "completed" {
			want := `[{"type":"text","text":"released"}]`
			if diff := cmp.Diff(want, string(at(got.Result, "content"))); diff != "" {
				t.Errorf("result differs:\n%s", diff)
			}
			return
		}
	}
}

// taskOnWire finds the id of the only task that was created.
func taskOnWire(t *testing.T, wire string) string {
	t.Helper()
	for line := range bytes.Lines([]byte(wire)) {
		if _, text, ok := bytes.Cut(line, []byte("read: ")); ok {
			if m, err := parseMessage(string(bytes.TrimSpace(text))); err == nil && m.text("resultType") == "task" {
				return m.text("taskId")
			}
		}
	}
	t.Fatalf("no task was created:\n%s", cut(wire))
	return ""
}
