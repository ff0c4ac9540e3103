// Table answers tasks/get from a map that holds the given number of tasks, over
// stdio or, with -listen, over HTTP. It looks for the id in the text, checks nothing
// and knows nothing else: no server of tasks can be faster. With -edge it reads, parses
// and writes messages by package wire, as the proxy does, and nothing else.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func main() {
	address := flag.String("listen", "", "serve HTTP on this `address` instead of stdio")
	tasks := flag.Int("tasks", 1, "the `number` of tasks")
	edge := flag.Bool("edge", false, "parse what comes")
	flag.Parse()
	t := newTable(*tasks)
	t.edge = *edge
	if err := t.serve(*address); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

type table struct {
	edge  bool
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
	if t.edge {
		return t.serveHTTPEdge(address)
	}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(t.answer(nil, body))
	}))
}

func (t *table) serveHTTPEdge(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return http.Serve(edgeListener{listener}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := wire.ReadAll(r.Body, r.ContentLength)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(t.message(body).Raw())
	}))
}

// edgeListener has connections be those of the proxy.
type edgeListener struct{ net.Listener }

func (l edgeListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return wire.NewConn(conn.(*net.TCPConn)), nil
}

func (t *table) serveStdio() error {
	if t.edge {
		return t.serveEdge()
	}
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

func (t *table) serveEdge() error {
	in, out := wire.NewLineReader(os.Stdin, 1<<20), wire.NewLineWriter(os.Stdout)
	defer out.Close()
	in.OnMore(out.Hold)
	for {
		line, err := in.Next()
		if err != nil {
			return nil
		}
		if err := out.WriteMessage(t.message(line)); err != nil {
			return err
		}
	}
}

func (t *table) message(line []byte) wire.Message {
	m, err := wire.Parse(line)
	if err != nil {
		return wire.Failure(m.ID(), wire.Errorf(wire.CodeParse, "%v", err))
	}
	id, _ := wire.String(wire.Get(m.Params(), "taskId"))
	return wire.Result(m.ID(), t.result(make([]byte, 0, 400), []byte(id)))
}

// answer is as long as one of the proxy.
func (t *table) answer(b, line []byte) []byte {
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), text(line, `"id":`, ',')...)
	b = t.result(append(b, `,"result":`...), text(line, `"taskId":"`, '"'))
	return append(b, '}')
}

func (t *table) result(b, id []byte) []byte {
	t.mu.Lock()
	status := t.tasks[string(id)]
	t.mu.Unlock()
	b = append(append(b, `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"table","version":"1.0.0"}},"resultType":"complete","taskId":"`...), id...)
	b = append(append(b, `","status":`...), strconv.Quote(status)...)
	b = append(b, `,"createdAt":"2026-11-30T04:16:42.000Z","lastUpdatedAt":"2026-11-30T04:16:42.000Z","ttlMs":86400000,"pollIntervalMs":1000}`...)
	return b
}

func text(line []byte, before string, end byte) []byte {
	_, rest, _ := bytes.Cut(line, []byte(before))
	value, _, _ := bytes.Cut(rest, []byte{end})
	return value
}
