package host

import (
	"bufio"
	"fmt"
	"os"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

const tasksChild = "tasks"

// child is a server of the initialize era without tasks, in whatever revision the
// client asks for. A call of hold is answered when release is called, one of ask
// when its question is.
type child struct {
	held []string // ids
	asks int
	open map[string]string // ids of calls, by those of their questions
}

func playForTasks() {
	c := &child{open: map[string]string{}}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if m, err := wire.Parse([]byte(in.Text())); err == nil {
			c.take(m)
		}
	}
}

func (c *child) take(m wire.Message) {
	switch id := string(m.ID()); {
	case m.IsResponse():
		text := "declined or refused"
		if action, _ := wire.String(wire.Get(m.Result(), "action")); action == "accept" {
			text = "accepted " + string(m.Result())
		}
		say(c.open[id], `{"content":[{"type":"text","text":`+string(wire.Quote(text))+`}]}`)
	case !m.IsRequest():
	case m.Method() == "initialize":
		say(id, `{"protocolVersion":`+string(wire.Get(m.Params(), "protocolVersion"))+`,"capabilities":{"tools":{"listChanged":true}, "x":1.0},"serverInfo":{"name":"child","version":"1"}}`)
	case m.Method() == "tools/list":
		say(id, `{"tools":[{"name":"hold","execution":{"taskSupport":"forbidden","x":1.0}},{"name":"quick"},{"name":"never"}]}`)
	case m.Method() == "tools/call":
		c.call(m, id)
	default:
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"the server does not know it"}}`+"\n", id)
	}
}

func (c *child) call(m wire.Message, id string) {
	name, _ := wire.String(wire.Get(m.Params(), "name"))
	switch name {
	case "hold":
		c.held = append(c.held, id)
		if token := wire.Lookup(m.Params(), "_meta", "progressToken"); token != nil {
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`+"\n", token)
		}
	case "release":
		for _, held := range append(c.held, id) {
			say(held, `{"content":[], "n":9007199254740993}`)
		}
		c.held = nil
	case "bad":
		say(id, `{"content":[{"type":"text","text":"it did not work"}],"isError":true}`)
	case "error":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-7,"message":"no","data":{"n":1.0}}}`+"\n", id)
	case "ask":
		c.asks++
		question := fmt.Sprintf(`"q%d"`, c.asks)
		c.open[question] = id
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":"well?","requestedSchema":{"type":"object","properties":{}}}}`+"\n", question)
	default:
		say(id, `{"content":[], "got":`+string(m.Params())+`}`)
	}
}
