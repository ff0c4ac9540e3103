package main

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	initializeRequest = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}`
	initializedNotice = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

	// firstID makes all ids equally long.
	firstID = 1_000_000
)

// meta are the members that open a stateless request of a host that declared
// tasks.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

// shape is a request but for its id.
type shape struct{ tail string }

func request(method, params string) shape {
	return shape{fmt.Sprintf(`,"method":%q,"params":{%s}}`+"\n", method, params)}
}

// line is the request as one line, in the memory of b.
func (s shape) line(b []byte, id int) []byte {
	b = strconv.AppendInt(append(b[:0], `{"jsonrpc":"2.0","id":`...), int64(firstID+id), 10)
	return append(b, s.tail...)
}

// call is a tools/call of about that many bytes. Args are the first of its
// arguments; members stand in front of them in params.
func call(size int, members, args string) shape {
	if members != "" {
		members += ","
	}
	if args != "" {
		args += ","
	}
	form := members + `"name":"echo","arguments":{` + args + `"x":"%s"}`
	short := request("tools/call", fmt.Sprintf(form, ""))
	padding := strings.Repeat("x", max(0, size-len(short.line(nil, 0))))
	return request("tools/call", fmt.Sprintf(form, padding))
}

func getTask(id string) shape { return request("tasks/get", meta+`,"taskId":"`+id+`"`) }

// idOf is the number that a message answers, as it was given to [shape.line].
func idOf(line []byte) int {
	id, err := strconv.Atoi(between(line, `"id":`, ','))
	check(err)
	return id - firstID
}

func taskID(line []byte) string {
	id := between(line, `"taskId":"`, '"')
	if id == "" {
		check(fmt.Errorf("not the handle of a task: %s", line))
	}
	return id
}

// between returns what stands behind the first before and in front of end.
func between(line []byte, before string, end byte) string {
	_, rest, _ := strings.Cut(string(line[:min(len(line), 4096)]), before)
	value, _, _ := strings.Cut(rest, string(end))
	return value
}
