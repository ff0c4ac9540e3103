package host

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// childMode makes the test binary play the upstream server. It is read in an
// init function, so that this needs no part in TestMain.
const childMode = "HOST_TEST_CHILD"

func init() {
	switch os.Getenv(childMode) {
	case "":
		return
	case tasksChild:
		playForTasks()
	case silentChild:
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		playServer()
	}
	os.Exit(0)
}

// playServer is a server of the initialize era. It answers calls of wait only
// when it is called for anything else.
func playServer() {
	var waiting []string
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		m, err := wire.Parse([]byte(in.Text()))
		switch {
		case err != nil || !m.IsRequest():
		case m.Method() == "initialize":
			say(string(m.ID()), `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"child","version":"1"}}`)
		case m.Method() != "tools/call":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", m.ID())
		case string(wire.Get(m.Params(), "name")) == `"wait"`:
			waiting = append(waiting, string(m.ID()))
		case string(wire.Get(m.Params(), "name")) == `"flood"`:
			say(string(m.ID()), `{"content":[],"x":"`+strings.Repeat("x", 6<<20)+`"}`)
		default:
			for _, id := range append(waiting, string(m.ID())) {
				say(id, `{"content":[]}`)
			}
			waiting = nil
		}
	}
}

func say(id, result string) {
	fmt.Println(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)
}
