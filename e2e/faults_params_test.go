package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// mirrored has one tool whose arguments are repeated in headers, and tools that
// break the rules for that.
const mirrored = `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[` +
	`{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},` +
	`"limit":{"type":"integer","x-mcp-header":"Limit"},"dry":{"type":"boolean","x-mcp-header":"Dry"},` +
	`"where":{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}}},"other":{"type":"string"}}}},` +
	`{"name":"empty_name","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":""}}}},` +
	`{"name":"space","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"My Region"}}}},` +
	`{"name":"line_break","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A\r\nX-Evil: 1"}}}},` +
	`{"name":"twice","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Same"},"b":{"type":"string","x-mcp-header":"same"}}}},` +
	`{"name":"number","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"Amount"}}}},` +
	`{"name":"object","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"Whole"}}}},` +
	`{"name":"in_items","inputSchema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"Item"}}}}}]}`

// A tool whose definition breaks the rules for headers is not offered, and the
// log says which and why (2026-07-28, Streamable HTTP, Custom Headers from Tool
// Parameters).
func TestToolWithAnInvalidHeaderIsNotOffered(t *testing.T) {
	t.Parallel()
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			h := y.start(t, proxyTo(t, startModern(t, map[string]act{"tools/list": answering(mirrored)})))
			m := h.ask(y.request("1", "tools/list"))
			var tools []struct{ Name string }
			if err := json.Unmarshal(at(m.Result, "tools"), &tools); err != nil || len(tools) != 1 || tools[0].Name != "query" {
				t.Errorf("the host is offered %v, %v", tools, err)
			}
			for _, name := range []string{"empty_name", "space", "line_break", "twice", "number", "object", "in_items"} {
				h.await("the log to name the tool "+name, func() bool { return strings.Contains(h.stderr(), `"tool":"`+name+`"`) })
			}
			if strings.Contains(h.stderr(), `"tool":"query"`) {
				t.Error("the log complains of a sound tool")
			}
		})
	}
}

// mirrorCases are arguments and the headers that they make (2026-07-28,
// Streamable HTTP, Value Encoding).
var mirrorCases = []struct {
	arguments string
	want      map[string]string
}{
	{`{"region":"eu-west","limit":42,"dry":true,"where":{"city":"Bern"},"other":"x"}`, map[string]string{"Region": "eu-west", "Limit": "42", "Dry": "true", "City": "Bern"}},
	{`{"region":"日本"}`, map[string]string{"Region": "=?base64?5pel5pys?="}},
	{`{"region":" padded "}`, map[string]string{"Region": "=?base64?IHBhZGRlZCA=?="}},
	{`{"region":"line1\nline2"}`, map[string]string{"Region": "=?base64?bGluZTEKbGluZTI=?="}},
	{`{"region":"=?base64?literal?="}`, map[string]string{"Region": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}},
	{`{"region":null,"limit":-7,"dry":false}`, map[string]string{"Limit": "-7", "Dry": "false"}},
	{`{"region":"two  words; a=\"b\""}`, map[string]string{"Region": `two  words; a="b"`}},
	{`{}`, map[string]string{}},
}

// The very first call has its headers, too: also where no host has ever listed
// the tools.
func TestArgumentsAreRepeatedInHeaders(t *testing.T) {
	t.Parallel()
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := startModern(t, map[string]act{"tools/list": answering(mirrored)})
			if y == ways[2] {
				checkMirrored(t, s, repeatedByTheHost(t, s))
				return
			}
			h := y.start(t, proxyTo(t, s))
			checkMirrored(t, s, func(id, arguments string, _ http.Header) message { return h.ask(y.call(id, "query", arguments)) })
		})
	}
}

// repeatedByTheHost: over HTTP a host of this era sends the headers itself, and
// the proxy sends those that it would have made.
func repeatedByTheHost(t *testing.T, s *scripted) func(id, arguments string, header http.Header) message {
	l := proxyTo(t, s).listen(t)
	return func(id, arguments string, header http.Header) message {
		return l.do(t, rawRequest{Body: plain.toolCall(id, "query", arguments), Header: header}).message
	}
}

func checkMirrored(t *testing.T, s *scripted, call func(id, arguments string, header http.Header) message) {
	t.Helper()
	for i, c := range mirrorCases {
		want := http.Header{}
		for name, value := range c.want {
			want["Mcp-Param-"+name] = []string{value}
		}
		if m := call(fmt.Sprint(i), c.arguments, want); m.Error != nil || m.Result == nil {
			t.Errorf("%s: %s", c.arguments, m.Raw)
			continue
		}
		v := s.want(t, "tools/call", i+1)[i]
		for _, name := range []string{"Region", "Limit", "Dry", "City", "Other"} {
			if got := v.header("Mcp-Param-" + name); got != c.want[name] {
				t.Errorf("%s: Mcp-Param-%s is %q, want %q", c.arguments, name, got, c.want[name])
			}
		}
	}
}

// A task that is always one has its headers, too.
func TestArgumentsOfATaskAreRepeatedInHeaders(t *testing.T) {
	t.Parallel()
	s := startModern(t, map[string]act{"tools/list": answering(mirrored)})
	p := proxyTo(t, s)
	p.Config = alwaysTasks
	h := p.start(t)
	finishTask(h, taskOf(t, h.ask(declared.toolCall("1", "query", `{"region":"日本"}`))), "completed")
	if got := s.want(t, "tools/call", 1)[0].header("Mcp-Param-Region"); got != "=?base64?5pel5pys?=" {
		t.Errorf("Mcp-Param-Region is %q", got)
	}
}
