package host

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// BenchmarkGet is tasks/get of a running task, from the line of the host to the one
// that it gets, without the reading and the writing.
func BenchmarkGet(b *testing.B) {
	store := openStore(b, b.TempDir())
	defer store.Close()
	core := proxy.New(proxy.Options{Tasks: proxy.NewTasks(store, zerolog.Nop()), Log: zerolog.Nop()})
	defer core.Close(b.Context())
	out := new(working)
	edge := NewStdio(nil, out, Options{Proxy: core, Log: zerolog.Nop()})
	task, err := store.Create(context.Background(), taskstate.Task{TTL: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	line := []byte(`{"jsonrpc":"2.0","id":1000001,"method":"tasks/get","params":{"taskId":"` + task.ID + `","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		edge.line(line)
		n++
	}
	edge.Finish(b.Context())
	edge.Close(b.Context())
	if out.answers != n {
		b.Errorf("%d answers to %d requests name a running task", out.answers, n)
	}
}

// working counts answers. Only the edge's own goroutine writes, until it is closed.
type working struct{ answers int }

func (w *working) Write(b []byte) (int, error) {
	w.answers += bytes.Count(b, []byte(`"status":"working"`))
	return len(b), nil
}
