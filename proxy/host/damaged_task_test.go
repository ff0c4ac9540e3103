package host

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// A host that asks for a task which the disk has damaged learns that the result is lost,
// and is not told to do again what cannot succeed.
func TestDamagedTaskIsSaidToBeLost(t *testing.T) {
	dir := t.TempDir()
	id := damagedTask(t, dir)
	store := openStore(t, dir)
	core := proxy.New(proxy.Options{Tasks: proxy.NewTasks(store, zerolog.Nop()), Log: zerolog.Nop()})
	t.Cleanup(func() { core.Close(context.Background()); _ = store.Close() })
	h := newTalker(t, Options{Proxy: core})
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		m := h.asks(method, method, `{`+meta+`,"taskId":"`+id+`","inputResponses":{}}`)
		text, _ := wire.String(wire.Get(m.Err(), "message"))
		if !strings.Contains(text, "cannot read the task any more") || strings.Contains(text, "send them again") || strings.Contains(text, dir) {
			t.Errorf("%s is answered: %s", method, m.Raw())
		}
	}
}

// damagedTask is one whose result is no more what it was.
func damagedTask(t *testing.T, dir string) (id string) {
	t.Helper()
	store := openStore(t, dir)
	task, err := store.Create(context.Background(), taskstate.Task{TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte(`{"text":"` + strings.Repeat("whole ", 10_000) + `"}`)
	if _, err := store.Finish(context.Background(), task.ID, taskstate.Outcome{Status: taskstate.Completed, Payload: payload}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	flipIn(t, filepath.Join(dir, "*.vlog"), "whole whole")
	return task.ID
}

// flipIn changes a bit some way behind the text, in the one file that has it.
func flipIn(t *testing.T, pattern, text string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(b, []byte(text)); at >= 0 {
			b[at+20_000] ^= 0x40
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("none of %q has %q", paths, text)
}
