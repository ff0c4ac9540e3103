package rawmcp

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// tools by name.
var tools = map[string]func(*call){
	"echo": echo, "fail": failTool, "rpcerror": rpcError, "crash": crash, "farewell": farewell, "flood": flood,
	"ask": ask, "changed": changed, "touch": touch, "log": logTool, "whoami": whoami,
	"slow": slow, "gate": gate, "release": release, "say": say, "quiz": quiz, "look": done, "add": done, "erase": done, "typed": typed,
}

// annotations are what tools/list says of how dangerous a tool is.
var annotations = map[string]string{
	"look": `"readOnlyHint":true`, "add": `"readOnlyHint":false,"destructiveHint":false`, "erase": `"destructiveHint":true`,
}

// OddMembers is what echo adds to every result: things that a proxy which
// decodes and encodes again would change. The escapes are meant as they stand.
const OddMembers = `"x-odd": {"none":null, "one":1.0,"big":9007199254740993,"raw":"é 日本 ` + "\u2028" +
	`","escaped":"\u00e9\u65e5\/","exp":1E+2,"":[ ]}`

// echo returns the bytes of its arguments.
func echo(c *call) {
	args := c.args
	if args == nil {
		args = json.RawMessage("null")
	}
	c.respond(textResult("echo") + `,"structuredContent":` + string(args) + `,` + OddMembers)
}

// failTool fails as tools should: with a result that says so, in three blocks.
func failTool(c *call) {
	c.respond(`"content":[{"type":"text","text":"first: disk is full"},{"type":"text","text":"second: tried /tmp"},` +
		`{"type":"text","text":"third: give up"}],"structuredContent":{"code":28},"isError":true`)
}

// rpcError fails as tools should not: with an error of the protocol, whose
// message is {bytes} longer than it need be.
func rpcError(c *call) {
	c.fail(-32050, "the tool broke"+padding(c), `{"big":9007199254740993,"one":1.0}`)
}

// ask puts one question, in the way of the era, or of a task.
func ask(c *call) {
	if c.task != nil {
		quiz(c)
		return
	}
	c.s.era.ask(c)
}

// padding is what makes messages {bytes} longer.
func padding(c *call) string { return strings.Repeat("x", int(c.number("bytes", 0))) }

// crash exits after three last lines on stderr, and {noise} bytes before them.
func crash(c *call) {
	const line = "noise, noise, noise, noise, noise, noise, noise, noise, noise\n"
	_, _ = io.WriteString(os.Stderr, strings.Repeat(line, int(c.number("noise", 0))/len(line)))
	for i := range 3 {
		fmt.Fprintf(os.Stderr, "fatal: last words %d\n", i+1)
	}
	os.Exit(7)
}

// farewell answers and is gone.
func farewell(c *call) {
	c.respond(textResult("bye"))
	os.Exit(0)
}

// flood answers with {bytes} bytes of text.
func flood(c *call) { c.respond(textResult(strings.Repeat("x", int(c.number("bytes", 1))))) }

// typed has a result of the form that it promises.
func typed(c *call) { c.respond(textResult("typed") + `,"structuredContent":{"ok":true}`) }

// done has nothing to do.
func done(c *call) { c.respond(textResult("done")) }

// say writes {line} as it stands, but for $ID, and nothing else.
func say(c *call) {
	c.s.out.write(strings.ReplaceAll(text(member(c.args, "line")), "$ID", string(c.id)))
}

// changed says that all lists changed, then answers.
func changed(c *call) {
	for _, list := range []string{"tools", "prompts", "resources"} {
		c.s.era.changed("notifications/"+list+"/list_changed", "")
	}
	c.respond(textResult("changed"))
}

// touch says that the resource {uri} changed, then answers.
func touch(c *call) {
	c.s.era.changed("notifications/resources/updated", text(member(c.args, "uri")))
	c.respond(textResult("touched"))
}

// logTool sends a log message, if the era lets it, then answers.
func logTool(c *call) {
	if c.s.era.logs(c) {
		c.s.notify("notifications/message", `{"level":"info","logger":"fixture","data":{"one":1.0}}`)
	}
	c.respond(textResult("logged"))
}

// whoami tells what the process was given: arguments, directory, id, and the variables named in {env}.
func whoami(c *call) {
	var names []string
	_ = json.Unmarshal(member(c.args, "env"), &names)
	env := map[string]string{}
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); slices.Contains(names, name) {
			env[name] = value
		}
	}
	dir, _ := os.Getwd()
	told, _ := json.Marshal(map[string]any{"args": os.Args[1:], "dir": dir, "env": env, "pid": os.Getpid()})
	c.respond(textResult("me") + `,"structuredContent":` + string(told))
}

// toolList is the value of "tools" in tools/list; stamp returns further members
// of a tool.
func toolList(stamp func(tool string) string) string {
	names := make([]string, 0, len(tools))
	for name := range tools {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = `{"name":"` + name + `","description":"Fixture tool","inputSchema":{"type":"object"}` + annotated(name) + stamp(name) + `,"x-order": 1.0}`
	}
	return `"tools":[` + strings.Join(names, ",") + `],"x-kept":{ "a":null}`
}

func annotated(tool string) string {
	if tool == "typed" {
		return `,"outputSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	}
	if hints := annotations[tool]; hints != "" {
		return `,"annotations":{` + hints + `}`
	}
	return ""
}
