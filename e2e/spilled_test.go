package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// saidBeside is a result that is too large, and says something beside its content.
const saidBeside = `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","_meta":{"v/x":1.0,"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},` +
	`"content":[{"type":"text","text":"%s"}],"isError":true,"x-cost":9007199254740993}}`

// What a result says beside its content stays when that is cut, or put elsewhere, for
// both generations of tasks, as far as each knows it.
func TestWhatStandsBesideALargeContentStays(t *testing.T) {
	for _, large := range []string{"spill", "truncate"} {
		for _, server := range [][]string{{"legacy", "-version", "2025-11-25"}, {"modern"}} {
			t.Run(large+" "+server[0], func(t *testing.T) {
				p, _ := proxyAround(t, server[0], server[1:]...)
				p.Config = alwaysTasks + "limits: {result_bytes: 10KiB, large_results: " + large + "}\n"
				h := p.start(t)
				line := raw(fmt.Sprintf(saidBeside, strings.Repeat("x", 20_000)))
				id := taskOf(t, h.ask(declared.toolCall("1", "say", `{"line":`+line+`}`)))
				checkBeside(t, at(finishTask(h, id, "completed").Result, "result"), `"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}`, `"complete"`)
				h.initialize("2025-11-25")
				checkBeside(t, h.older("tasks/result", id).Result, `"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}`, "")
			})
		}
	}
}

func checkBeside(t *testing.T, result json.RawMessage, meta, resultType string) {
	t.Helper()
	switch got := string(at(result, "_meta")); {
	case len(result) > 10<<10:
		t.Errorf("%d bytes are no less than before", len(result))
	case len(got) != len(`{"v/x":1.0,`+meta+`}`) || !strings.Contains(got, `"v/x":1.0`) || !strings.Contains(got, meta):
		t.Errorf("_meta is %s", got)
	case string(at(result, "isError")) != "true" || string(at(result, "x-cost")) != "9007199254740993" || string(at(result, "resultType")) != resultType:
		t.Errorf("isError, x-cost or resultType is lost: %s", cut(string(result)))
	}
}

// A host reads what it is given a link to only from servers that say they have
// resources: here it is the proxy that has them. The server is not asked for any.
func TestLinkToALargeResultCanBeReadThoughTheServerHasNoResources(t *testing.T) {
	for _, server := range []string{"plain", "hostile"} {
		t.Run(server, func(t *testing.T) {
			p := &proxied{Upstream: []string{fixture(t, server)}, StateDir: t.TempDir(), Config: "limits: {result_bytes: 1KiB}\n"}
			h := p.start(t)
			if got := string(at(h.ask(declared.request("1", "server/discover", `{}`)).Result, "capabilities", "resources")); got != "{}" {
				t.Errorf("server/discover says %q of resources", got)
			}
			for _, ask := range []func(method, params string) message{
				func(method, params string) message { return h.ask(declared.request(h.freshID(), method, params)) },
				func(method, params string) message { return h.ask(request(h.freshID(), method, params)) },
			} {
				checkResources(t, ask)
				if got := string(at(h.initialize("2025-11-25").Result, "capabilities", "resources")); got != "{}" {
					t.Errorf("initialize says %q of resources", got)
				}
			}
		})
	}
}

func checkResources(t *testing.T, ask func(method, params string) message) {
	t.Helper()
	if m := ask("resources/list", `{}`); string(at(m.Result, "resources")) != "[]" {
		t.Errorf("resources/list: %s", m.Raw)
	}
	if m := ask("resources/templates/list", `{}`); string(at(m.Result, "resourceTemplates")) != "[]" {
		t.Errorf("resources/templates/list: %s", m.Raw)
	}
	if m := ask("resources/read", `{"uri":"file:///x"}`); m.code() != -32602 && m.code() != -32002 {
		t.Errorf("resources/read: %s", m.Raw)
	}
}

// Where no result can become a resource nothing is said of resources, and what is
// asked of them is the server's to answer.
func TestResourcesAreTheServersAffairWhereNothingSpills(t *testing.T) {
	for _, config := range []string{"limits: {large_results: truncate}\n", "limits: {large_results: reject}\n", "task: never\n", "upstream_tasks: passthrough\n"} {
		t.Run(strings.TrimSpace(config), func(t *testing.T) {
			command := []string{fixture(t, "hostile")}
			direct := startHost(t, command...)
			h := (&proxied{Upstream: command, StateDir: t.TempDir(), Config: config}).start(t)
			exchanges := []exchange{{"resources/list", `{}`}, {"resources/templates/list", `{}`}, {"resources/read", `{"uri":"file:///x"}`}}
			compareLines(t, converse(direct, "2025-11-25", exchanges, true), converse(h, "2025-11-25", exchanges, true))
		})
	}
}
