package schema

import (
	"fmt"
	"strings"
	"testing"
)

func TestEveryNamedDefinitionExists(t *testing.T) {
	for _, table := range []map[Document]map[string]string{results, unasked, failures} {
		for document, names := range table {
			for method, name := range names {
				if _, err := compile(document, name); err != nil {
					t.Errorf("%s: %v", method, err)
				}
			}
		}
	}
}

const (
	plainMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	tasksMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	task = `"taskId":"t","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":null`
)

func TestJudgeKnowsByWhichDefinitionToJudge(t *testing.T) {
	tests := []struct {
		name, method, params, answer string
		wrong                        string // part of the complaint; none means that it is right
	}{
		{"text of a tool", "tools/call", `{}`, `"result":{"content":[]}`, ""},
		{"no content", "tools/call", `{}`, `"result":{}`, "content"},
		{"no name of a tool", "tools/list", `{}`, `"result":{"tools":[{"inputSchema":{"type":"object"}}]}`, "name"},
		{"a pong", "ping", `{}`, `"result":{}`, ""},
		{"nobody's method", "vendor/x", `{}`, `"result":{"a":1}`, ""},
		{"no message of an error", "tools/call", `{}`, `"error":{"code":1}`, "message"},
		{"a code that is no integer", "tools/call", `{}`, `"error":{"code":1.5,"message":""}`, "code"},
		{"no resultType", "tools/call", `{` + plainMeta + `}`, `"result":{"content":[]}`, "resultType"},
		{"a result", "tools/call", `{` + plainMeta + `}`, `"result":{"resultType":"complete","content":[]}`, ""},
		{"a list without caching", "tools/list", `{` + plainMeta + `}`, `"result":{"resultType":"complete","tools":[]}`, "ttlMs"},
		{"a question", "tools/call", `{` + plainMeta + `}`, `"result":{"resultType":"input_required","requestState":"s"}`, ""},
		{"a question of a list", "tools/list", `{` + plainMeta + `}`, `"result":{"resultType":"input_required"}`, "input_required"},
		{"a task", "tools/call", `{` + tasksMeta + `}`, `"result":{"resultType":"task","status":"working",` + task + `}`, ""},
		{"a task that nobody may get", "tools/call", `{` + plainMeta + `}`, `"result":{"resultType":"task","status":"working",` + task + `}`, "declared"},
		{"a task of a prompt", "prompts/get", `{` + tasksMeta + `}`, `"result":{"resultType":"task","status":"working",` + task + `}`, "prompts/get"},
		{"a task's state as a new task", "tasks/get", `{` + tasksMeta + `}`, `"result":{"resultType":"task","status":"working",` + task + `}`, "tasks/get"},
		{"a completed task", "tasks/get", `{` + tasksMeta + `}`, `"result":{"resultType":"complete","status":"completed","result":{"resultType":"complete","content":[]},` + task + `}`, ""},
		{"a completed task with an odd result", "tasks/get", `{` + tasksMeta + `}`, `"result":{"resultType":"complete","status":"completed","result":{"resultType":"complete"},` + task + `}`, "content"},
		{"a failed task with an odd error", "tasks/get", `{` + tasksMeta + `}`, `"result":{"resultType":"complete","status":"failed","error":{"code":1},` + task + `}`, "message"},
		{"a capability without a name", "tasks/get", `{` + plainMeta + `}`, `"error":{"code":-32021,"message":""}`, "data"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var j Judge
			j.Sent(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, test.method, test.params))
			complain(t, j.Received([]byte(`{"jsonrpc":"2.0","id":1,`+test.answer+`}`)), test.wrong)
		})
	}
}

func TestJudgeOfWhatNobodyAsked(t *testing.T) {
	tests := []struct{ name, opening, line, wrong string }{
		{"progress", "initialize", `"method":"notifications/progress","params":{"progressToken":1,"progress":0.5}`, ""},
		{"progress without a token", "initialize", `"method":"notifications/progress","params":{"progress":0.5}`, "progressToken"},
		{"a question", "initialize", `"id":9007199254740993,"method":"roots/list"`, ""},
		{"a question by a fraction", "initialize", `"id":1.5,"method":"roots/list"`, "id"},
		{"a question in the stateless era", "server/discover", `"id":1,"method":"roots/list"`, "no requests"},
		{"somebody's notification", "server/discover", `"method":"notifications/vendor"`, ""},
		{"a task", "server/discover", `"method":"notifications/tasks","params":{"status":"working",` + task + `}`, ""},
		{"a task without a time", "server/discover", `"method":"notifications/tasks","params":{"status":"working","taskId":"t"}`, "createdAt"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var j Judge
			j.Sent(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, test.opening))
			complain(t, j.Received([]byte(`{"jsonrpc":"2.0",`+test.line+`}`)), test.wrong)
		})
	}
}

func complain(t *testing.T, got error, want string) {
	t.Helper()
	switch {
	case want == "" && got != nil:
		t.Errorf("wrongly refused: %v", got)
	case want != "" && (got == nil || !strings.Contains(got.Error(), want)):
		t.Errorf("the complaint should name %q: %v", want, got)
	}
}
