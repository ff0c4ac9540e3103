package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The requests that are sent direct and through the proxy. Ids are the position.
type exchange struct{ method, params string }

var lists = []exchange{
	{"ping", `{}`}, {"tools/list", `{}`}, {"prompts/list", `{}`}, {"resources/list", `{}`},
	{"resources/templates/list", `{}`}, {"vendor/none", `{"a": 1.0}`},
}

func call(tool, arguments string) exchange {
	return exchange{"tools/call", `{"name":"` + tool + `","arguments":` + arguments + `}`}
}

func TestTransparentForFixture(t *testing.T) {
	exchanges := append(lists[:len(lists):len(lists)],
		call("echo", `{"none":null, "one":1.0,"big":9007199254740993,"exp":-0.0e-7,"raw":"é`+"\u2028"+`","escaped":"\u00e9\/"}`),
		call("echo", `{ "z" : [ ] , "a":{ } }`), call("fail", `{}`), call("rpcerror", `{}`), call("none", `{}`),
		call("changed", `{}`), call("log", `{}`), call("flood", `{"bytes":100000}`),
		exchange{"tools/call", `{"_meta":{"progressToken":"p","traceparent":"00-1","v/x":1.0},"arguments":{"seconds":0.05},"name":"slow"}`},
		exchange{"prompts/get", `{"name":"greet"}`}, exchange{"resources/read", `{"uri":"mem://one"}`},
		exchange{"resources/subscribe", `{"uri":"mem://one"}`}, call("touch", `{"uri":"mem://one"}`),
		exchange{"completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""}}`},
		exchange{"logging/setLevel", `{"level":"debug"}`}, exchange{"vendor/echo", `{"b":1.0,"a":9007199254740993}`},
	)
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			p, _ := proxyAround(t, "legacy", "-version", version)
			direct := converse(startHost(t, p.Upstream...), version, exchanges, true)
			compareLines(t, direct, converse(p.start(t), version, exchanges, true))
		})
	}
}

func TestTransparentForGoSDKServer(t *testing.T) {
	p := &proxied{Upstream: []string{fixture(t, "everything")}, StateDir: t.TempDir()}
	comparePeer(t, p, append(lists[:len(lists):len(lists)],
		call("greet", `{"name":"é"}`), call("greet (structured)", `{"name":"x"}`), call("greet", `{"name":7}`), call("none", `{}`),
		call("greet (content with ResourceLink)", `{"name":"x"}`),
		exchange{"prompts/get", `{"name":"greet","arguments":{"name":"x"}}`}, exchange{"resources/read", `{"uri":"embedded:info"}`}))
}

func TestTransparentForNPMEverything(t *testing.T) {
	p := &proxied{Upstream: npmServer(t, "server-everything"), StateDir: t.TempDir()}
	comparePeer(t, p, append(lists[:len(lists):len(lists)],
		call("echo", `{"message":"é"}`), call("get-sum", `{"a":1,"b":2.5}`), call("get-tiny-image", `{}`),
		call("get-structured-content", `{"location":"Chicago"}`), call("get-sum", `{"a":"x"}`),
		call("trigger-long-running-operation", `{"duration":0.2,"steps":2}`),
		exchange{"prompts/get", `{"name":"simple-prompt"}`},
		exchange{"completion/complete", `{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}`}))
}

// noSpill is for servers that have no resources: where a large result may become one,
// the proxy has them, and says so (spilled_test.go).
const noSpill = "limits: {large_results: truncate}\n"

func TestTransparentForNPMFilesystem(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a b.txt")
	if err := os.WriteFile(file, []byte("one\ntwo é\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &proxied{Upstream: npmServer(t, "server-filesystem", dir), StateDir: t.TempDir(), Config: noSpill}
	comparePeer(t, p, append(lists[:len(lists):len(lists)],
		call("list_allowed_directories", `{}`), call("read_text_file", `{"path":`+raw(file)+`}`),
		call("list_directory", `{"path":`+raw(dir)+`}`), call("read_text_file", `{"path":"/etc/hostname"}`)))
}

// The memory server writes; the two runs get a file each.
func TestTransparentForNPMMemory(t *testing.T) {
	exchanges := append(lists[:len(lists):len(lists)],
		call("create_entities", `{"entities":[{"name":"é","entityType":"letter","observations":["accented"]}]}`),
		call("read_graph", `{}`), call("search_nodes", `{"query":"accent"}`), call("open_nodes", `{"names":["é"]}`))
	command := npmServer(t, "server-memory")
	memory := func(name string) hostOptions {
		return hostOptions{Env: []string{"MEMORY_FILE_PATH=" + filepath.Join(t.TempDir(), name)}}
	}
	p := &proxied{Upstream: command, StateDir: t.TempDir(), Host: memory("proxied.json"), Config: noSpill}
	direct := converse(startHostWith(t, memory("direct.json"), command...), "2025-11-25", exchanges, false)
	compareLines(t, direct, converse(p.start(t), "2025-11-25", exchanges, false))
}

// comparePeer compares answers only: when these servers notify is their own affair.
func comparePeer(t *testing.T, p *proxied, exchanges []exchange) {
	t.Helper()
	direct := converse(startHost(t, p.Upstream...), "2025-11-25", exchanges, false)
	compareLines(t, direct, converse(p.start(t), "2025-11-25", exchanges, false))
}

// converse has the whole conversation, one request at a time, and returns the lines heard.
func converse(h *host, version string, exchanges []exchange, notifications bool) []string {
	h.t.Helper()
	heard := []string{h.initialize(version).Raw}
	for i, e := range exchanges {
		h.send(request(raw(i), e.method, e.params))
		for {
			m := h.next()
			if notifications || m.Method == "" {
				heard = append(heard, m.Raw)
			}
			if m.Method == "" {
				break
			}
		}
	}
	return heard
}

// ownTasks is what the proxy itself says of tasks in a session of 2025-11-25: the
// capability, and the support of each tool.
var ownTasks = regexp.MustCompile(`"tasks":\{("list":\{\},)?"cancel":\{\},"requests":\{"tools":\{"call":\{\}\}\}\},|` +
	`,"tasks":\{("list":\{\},)?"cancel":\{\},"requests":\{"tools":\{"call":\{\}\}\}\}|` +
	`"execution":\{"taskSupport":"\w+"\},|,"execution":\{"taskSupport":"\w+"\}`)

func compareLines(t *testing.T, direct, proxied []string) {
	t.Helper()
	for _, lines := range [][]string{direct, proxied} {
		for i, line := range lines {
			lines[i] = ownTasks.ReplaceAllString(line, "")
		}
	}
	if diff := cmp.Diff(direct, proxied); diff != "" {
		t.Errorf("lines differ (-direct +proxied):\n%s", diff)
	}
}
