// Hostile is a server of the initialize era on stdio that means harm. What it
// does to its client is the name of the tool that is called; a tool of another
// name is answered as it should be.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// out is written at once: what is cut off shall be cut off.
var out = bufio.NewWriterSize(os.Stdout, 1<<20)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for line, err := in.ReadString('\n'); err == nil; line, err = in.ReadString('\n') {
		take(line)
		_ = out.Flush()
	}
}

type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name string
		Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
}

func take(line string) {
	var m message
	if json.Unmarshal([]byte(line), &m) != nil || m.Method == "" || m.ID == nil {
		return
	}
	switch m.Method {
	case "initialize":
		say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"hostile","version":"1"}}}`, m.ID)
	case "tools/list": // without end
		say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"run","inputSchema":{"type":"object"}}],"nextCursor":"again"}}`, m.ID)
	case "tools/call":
		if attack := attacks[m.Params.Name]; attack != nil {
			attack(m)
		}
		if !silent[m.Params.Name] {
			answer(m)
		}
	default:
		say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}

func say(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }

func answer(m message) {
	say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, m.ID)
}

// attacks come before the answer.
var attacks = map[string]func(m message){
	"twice": answer,
	"nobody": func(message) {
		for _, id := range []string{"999999999", `"x"`, "-1", "1.5", `""`, "1e999", "99999999999999999999"} {
			say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		}
	},
	"nul":  func(m message) { say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":"`+"\x00"+`"}}`, m.ID) },
	"deep": func(m message) { nest(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":`, m, `}}`, 100_000) },
	"batches": func(m message) { // each would have to be looked at whole
		_, _ = out.WriteString(strings.Repeat("[", 9000) + `{"jsonrpc":"2.0","method":"x","params":{"x":"` + strings.Repeat("x", 4<<20) + `"}}`)
		say("%s", strings.Repeat("]", 9000))
	},
	"bom":  func(message) { _, _ = out.WriteString("\xef\xbb\xbf") },
	"slow": drip,
	"half": func(m message) {
		_, _ = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"con`, m.ID)
		_ = out.Flush()
		os.Exit(3)
	},
	"junk":  func(message) { flood("", "x", 200<<20); say("") },
	"lines": func(message) { flood("no message", "\n", 50<<20) },
	"ask": func(m message) {
		for range 10_000 { // all with one id
			say(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":{"progressToken":%s},"message":"well?","requestedSchema":{"type":"object","properties":{}}}}`, token(m))
		}
	},
	"progress": func(m message) {
		for i := range floods() {
			say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token(m), i)
		}
	},
	"notices": func(message) {
		for range floods() {
			say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
	},
}

// floods is how many notifications a flood has; a variable makes it less, for the
// race detector.
func floods() int {
	if n, err := strconv.Atoi(os.Getenv("E2E_FLOOD")); err == nil {
		return n
	}
	return 100_000
}

// silent are the attacks that are all there is of an answer.
var silent = map[string]bool{"nul": true, "deep": true, "slow": true}

func token(m message) string {
	if m.Params.Meta.ProgressToken == nil {
		return "0"
	}
	return string(m.Params.Meta.ProgressToken)
}

func nest(head string, m message, tail string, levels int) {
	_, _ = fmt.Fprintf(out, head, m.ID)
	_, _ = out.WriteString(strings.Repeat("[", levels) + strings.Repeat("]", levels))
	say("%s", tail)
}

// drip writes the answer byte by byte.
func drip(m message) {
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", m.ID)
	for _, c := range []byte(text) {
		_ = out.WriteByte(c)
		_ = out.Flush()
		time.Sleep(2 * time.Millisecond)
	}
}

// flood writes text and end over and over, until that many bytes are out.
func flood(text, end string, bytes int) {
	piece := strings.Repeat(text+end, 1+(1<<16)/len(text+end))
	for n := 0; n < bytes; n += len(piece) {
		_, _ = out.WriteString(piece)
	}
}
