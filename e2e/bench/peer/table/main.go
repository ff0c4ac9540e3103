// Table answers tasks/get from a map that holds the given number of tasks, over
// stdio or, with -listen, over HTTP. It checks nothing and knows nothing else:
// no server of tasks can be faster.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
)

func main() {
	address := flag.String("listen", "", "serve HTTP on this `address` instead of stdio")
	tasks := flag.Int("tasks", 1, "the `number` of tasks")
	flag.Parse()
	t := newTable(*tasks)
	if err := t.serve(*address); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

type table struct {
	mu    sync.Mutex
	tasks map[string]string // status by id
}

// newTable fills it with the ids task-00000000, task-00000001 and so on.
func newTable(n int) *table {
	t := &table{tasks: map[string]string{}}
	for i := range n {
		t.tasks[fmt.Sprintf("task-%08d", i)] = "working"
	}
	return t
}

func (t *table) serve(address string) error {
	if address == "" {
		return t.serveStdio()
	}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(t.answer(nil, body))
	}))
}

func (t *table) serveStdio() error {
	in, out := bufio.NewReaderSize(os.Stdin, 64<<10), bufio.NewWriterSize(os.Stdout, 64<<10)
	var answer []byte
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return out.Flush()
		}
		answer = append(t.answer(answer[:0], line), '\n')
		_, _ = out.Write(answer)
		if in.Buffered() == 0 {
			_ = out.Flush()
		}
	}
}

// answer is as long as one of the proxy.
func (t *table) answer(b, line []byte) []byte {
	id := text(line, `"taskId":"`, '"')
	t.mu.Lock()
	status := t.tasks[string(id)]
	t.mu.Unlock()
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), text(line, `"id":`, ',')...)
	b = append(append(b, `,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"table","version":"1.0.0"}},"resultType":"complete","taskId":"`...), id...)
	b = append(append(b, `","status":`...), strconv.Quote(status)...)
	b = append(b, `,"createdAt":"2026-11-30T04:16:42.000Z","lastUpdatedAt":"2026-11-30T04:16:42.000Z","ttlMs":86400000,"pollIntervalMs":1000}}`...)
	return b
}

func text(line []byte, before string, end byte) []byte {
	_, rest, _ := bytes.Cut(line, []byte(before))
	value, _, _ := bytes.Cut(rest, []byte{end})
	return value
}
