package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// client speaks JSON-RPC, one message a line, to a server that it started.
// One goroutine makes requests, another reads the answers; close waits for it.
type client struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers chan message // closed at the end of the server's output
	lastID  int
}

type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *rpcError) Error() string {
	return fmt.Sprintf("%s (%d) %s", e.Message, e.Code, e.Data)
}

func start(program string, args ...string) (*client, error) {
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &client{cmd: cmd, stdin: stdin, answers: make(chan message)}
	go c.read(stdout)
	return c, nil
}

// read passes on responses. This host has no use for notifications.
func (c *client) read(stdout io.Reader) {
	defer close(c.answers)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) == nil && m.Method == "" && m.ID != nil {
			c.answers <- m
		}
	}
}

// request waits for the answer to one request, or for ctx.
func (c *client) request(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	c.lastID++
	params["_meta"] = meta()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.lastID, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := c.stdin.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("%s: the proxy has ended: %w", method, err)
	}
	return c.answer(ctx, method)
}

func (c *client) answer(ctx context.Context, method string) (json.RawMessage, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, errors.New("interrupted")
		case m, ok := <-c.answers:
			switch {
			case !ok:
				return nil, fmt.Errorf("%s: the proxy has ended without an answer", method)
			case *m.ID != c.lastID:
				continue
			case m.Error != nil:
				return nil, fmt.Errorf("%s: %w", method, m.Error)
			}
			return m.Result, nil
		}
	}
}

// meta goes with every request: revision 2026-07-28 keeps nothing of an
// earlier one (Basic: per-request metadata), and a client that does not
// declare the Tasks extension on a call gets no task for it.
func meta() map[string]any {
	return map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo":      map[string]any{"name": "example-host", "version": "1.0.0"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{
			"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}},
		},
	}
}

// close ends the server by the end of its input, and reads what it still says
// so that it cannot block on it.
func (c *client) close() {
	c.stdin.Close()
	for range c.answers {
	}
	if err := c.cmd.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "host: the proxy ended with", err)
	}
}
