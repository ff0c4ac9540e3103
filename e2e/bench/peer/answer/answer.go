package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strconv"
)

// answerer writes the answers to one client.
type answerer struct {
	out  *bufio.Writer
	held [][]byte // ids
	owed int      // the size of the answer to the next call that wants to be held
}

const (
	discovered  = `,"error":{"code":-32601,"message":"Method not found"}}`
	initialized = `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"answer","version":"1.0.0"}}}`
	listed      = `,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`
)

// headOf is where method and arguments are looked for: in front of what makes
// the message long.
func headOf(line []byte) []byte { return line[:min(len(line), 1024)] }

func (a *answerer) answer(line []byte) {
	id, head := requestID(line), headOf(line)
	switch {
	case id == nil:
	case bytes.Contains(head, []byte(`"server/discover"`)):
		a.write(id, discovered)
	case bytes.Contains(head, []byte(`"initialize"`)):
		a.write(id, initialized)
	case bytes.Contains(head, []byte(`"tools/list"`)):
		a.write(id, listed)
	case bytes.Contains(head, []byte(`"hold":true`)):
		a.hold(id)
	case bytes.Contains(head, []byte(`"release":true`)):
		a.release(line)
		fallthrough
	default:
		a.result(id, len(line)+extra(head))
	}
}

// hold does not wait for a release that came first: calls that are tasks need not
// arrive in the order in which they were made.
func (a *answerer) hold(id []byte) {
	if a.owed > 0 {
		a.result(id, a.owed)
		a.owed = 0
		return
	}
	a.held = append(a.held, bytes.Clone(id))
}

func (a *answerer) release(line []byte) {
	size := len(line) + extra(headOf(line))
	for _, id := range a.held {
		a.result(id, size)
	}
	if len(a.held) == 0 {
		a.owed = size
	}
	a.held = nil
}

func (a *answerer) write(id []byte, rest string) {
	_, _ = a.out.WriteString(`{"jsonrpc":"2.0","id":`)
	_, _ = a.out.Write(id)
	_, _ = a.out.WriteString(rest + "\n")
}

var padding = bytes.Repeat([]byte("x"), 64<<10)

// result is a message of that many bytes, or as few as it takes.
func (a *answerer) result(id []byte, size int) {
	const front, back = `,"result":{"content":[{"type":"text","text":"`, `"}]}}` + "\n"
	_, _ = a.out.WriteString(`{"jsonrpc":"2.0","id":`)
	_, _ = a.out.Write(id)
	_, _ = a.out.WriteString(front)
	for size -= len(`{"jsonrpc":"2.0","id":`) + len(id) + len(front) + len(back); size > 0; size -= len(padding) {
		_, _ = a.out.Write(padding[:min(size, len(padding))])
	}
	_, _ = a.out.WriteString(back)
}

func extra(head []byte) int {
	_, rest, _ := bytes.Cut(head, []byte(`"bytes":`))
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(string(rest[:end]))
	return n
}

// requestID finds the id quickly where it usually stands, surely otherwise.
func requestID(line []byte) []byte {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)); ok {
		if end := bytes.IndexByte(rest, ','); end > 0 {
			return rest[:end]
		}
	}
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal(line, &m)
	return m.ID
}
