package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// publishedServer is what hosts see of a server with the TypeScript SDK's tasks,
// of which it says that they are required.
var publishedServer = []sight{
	{"plain", "result", "done"},
	{"plain", "isError", "isError: disk is full"},
	{"plain", "cancel", "no answer"},
	{"plain", "input", "asked · answered"},

	{"session", "result", "done"},
	{"session", "isError", "isError: disk is full"},
	{"session", "cancel", "no answer"},
	{"session", "input", "asked · answered"},

	{"older", "result", "task working · completed · done"},
	{"older", "isError", "task working · failed (disk is full) · isError: disk is full"},
	{"older", "cancel", "task working · cancelled · again: error -32602 · error -32603"},
	{"older", "input", "task working · input_required · asked · completed · answered"},

	{"extension", "result", "task working · completed: done"},
	{"extension", "isError", "task working · completed: isError: disk is full"},
	{"extension", "cancel", "task working · cancelled · again: acknowledged"},
	{"extension", "input", "task working · input_required · asked · completed: answered"},
}

var publishedOutcomes = map[string]outcome{
	"result":  {tool: "job", arguments: `{"until":%q}`},
	"isError": {tool: "job", arguments: `{"until":%q,"fail":true}`},
	"cancel":  {tool: "job", arguments: `{"until":%q}`, cancelled: true},
	"input":   {tool: "job", arguments: `{"until":%q,"ask":true}`, asks: true},
}

func TestMigrationOfAPublishedServer(t *testing.T) {
	for _, http := range []bool{false, true} {
		if testing.Short() && http {
			continue
		}
		for _, host := range migrationHosts {
			if strings.HasPrefix(host.name, "ticket") {
				continue
			}
			t.Run(fmt.Sprintf("%s host/over http %v", host.name, http), func(t *testing.T) {
				t.Parallel()
				p, seen := publishedTasks(t, http)
				p.Config = host.config
				c := &cell{h: p.start(t), seen: seen, outcomes: publishedOutcomes}
				c.checkAll(t, publishedServer, host.name, host.play)
			})
		}
	}
}

// publishedTasks is a proxy before peers/oldserver.mjs.
func publishedTasks(t *testing.T, http bool) (*proxied, *records) {
	t.Helper()
	dir := t.TempDir()
	seen := &records{t: t, effects: filepath.Join(dir, "effects")}
	p := &proxied{StateDir: filepath.Join(dir, "state"), Upstream: []string{"node", filepath.Join(npmPeers(t), "oldserver.mjs"), seen.effects}}
	if http {
		p.URL, p.Host.Apart = startNode(t, append(slices.Clone(p.Upstream), "http")), true
	}
	return p, seen
}

// startNode runs a server until the end of the test and returns the URL that it
// prints.
func startNode(t *testing.T, argv []string) (url string) {
	t.Helper()
	server := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	if url, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the server prints no URL: %v", err)
	}
	return strings.TrimSpace(url)
}

// The proxy is killed, and the server of the TypeScript SDK works on.
func TestPublishedServersTaskIsResumedAfterAKill(t *testing.T) {
	t.Parallel()
	p, seen := publishedTasks(t, true)
	p.Config = alwaysTasks
	path := t.TempDir() + "/door"
	h := p.start(t)
	id := h.extensionTask("job", fmt.Sprintf(`{"until":%q}`, path))
	h.await("the server's task to be followed", func() bool { return seen.count("tasks/result") > 0 })
	h.kill()
	h = p.start(t)
	h.initialize("2025-11-25")
	h.resumed(id)
	openDoor(t, path)
	if m := h.older("tasks/result", id); firstText(m.Result) != "done" {
		t.Errorf("tasks/result: %s", cut(m.Raw))
	}
	if n := seen.count("call job"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// server-everything's own task tool, which takes four seconds, and says where it
// is; every host gets its report, whatever it knows of tasks.
func TestNPMEverythingResearches(t *testing.T) {
	for name, research := range map[string]func(*cell){
		"plain host": func(c *cell) {
			c.research(c.h.ask(plain.toolCall("1", researchTool, `{"topic":"tides"}`)).Result)
		},
		"session": func(c *cell) {
			c.session()
			c.h.send(toolCall("1", researchTool, `{"topic":"tides","ambiguous":true}`))
			q := c.h.take("the question", func(m message) bool { return m.Method == "elicitation/create" })
			c.h.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + technical + `}`)
			c.research(c.h.response("1").Result)
		},
		"older host": func(c *cell) {
			c.session()
			id := c.h.olderTask(researchTool, `{"topic":"tides","ambiguous":true}`)
			q := c.h.take("the question", isQuestion(id))
			c.h.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + technical + `}`)
			c.research(c.h.older("tasks/result", id).Result)
		},
		"extension host": func(c *cell) {
			id := taskOf(c.t, c.h.ask(request("1", "tools/call", `{"name":"`+researchTool+`","arguments":{"topic":"tides","ambiguous":true},"_meta":{`+metaForms+`}}`)))
			m := pollTask(c.h, id, func(m message) bool { return strings.Contains(m.text("statusMessage"), "Analyzing content") })
			if m.text("status") != "working" {
				c.t.Errorf("the server's word of its task did not come through: %s", cut(m.Raw))
			}
			m = pollTask(c.h, id, func(m message) bool { return len(m.asked()) == 1 })
			c.h.update(id, fmt.Sprintf(`{%q:%s}`, m.asked()[0], technical))
			c.research(at(finishTask(c.h, id, "completed").Result, "result"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &proxied{Upstream: npmServer(t, "server-everything"), StateDir: t.TempDir(), Config: alwaysTasks}
			c := &cell{t: t, h: p.start(t)}
			research(c)
			c.h.stop()
		})
	}
}

const (
	researchTool = "simulate-research-query"
	metaForms    = metaVersion + `{"elicitation":{},` + extension + `}` // of roots it would be asked, too
	technical    = `{"action":"accept","content":{"interpretation":"technical"}}`
)

func (c *cell) research(result json.RawMessage) {
	c.t.Helper()
	if said := firstText(result); !strings.HasPrefix(said, "# Research Report: tides") {
		c.t.Errorf("the tool says %s", cut(said))
	}
}
