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
	discovered = `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],"capabilities":{`
	task       = `"taskId":"t","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":null`
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
		{"a task's state as a new task", "tasks/get", `{"taskId":"t",` + tasksMeta + `}`, `"result":{"resultType":"task","status":"working",` + task + `}`, "tasks/get"},
		{"a completed task", "tasks/get", `{"taskId":"t",` + tasksMeta + `}`, `"result":{"resultType":"complete","status":"completed","result":{"resultType":"complete","content":[]},` + task + `}`, ""},
		{"a completed task with an odd result", "tasks/get", `{"taskId":"t",` + tasksMeta + `}`, `"result":{"resultType":"complete","status":"completed","result":{"resultType":"complete"},` + task + `}`, "content"},
		{"a failed task with an odd error", "tasks/get", `{"taskId":"t",` + tasksMeta + `}`, `"result":{"resultType":"complete","status":"failed","error":{"code":1},` + task + `}`, "message"},
		{"another task", "tasks/get", `{"taskId":"other",` + tasksMeta + `}`, `"result":{"resultType":"complete","status":"working",` + task + `}`, "told of task"},
		{"tasks of another era", "server/discover", `{` + plainMeta + `}`, discovered + `"tasks":{}}}`, "where there are none"},
		{"an extension with settings", "server/discover", `{` + plainMeta + `}`, discovered + `"extensions":{"io.modelcontextprotocol/tasks":{"list":{}}}}}`, "settings"},
		{"an extension", "server/discover", `{` + plainMeta + `}`, discovered + `"extensions":{"io.modelcontextprotocol/tasks":{}}}}`, ""},
		{"tools of another era", "tools/list", `{` + plainMeta + `}`, `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{}}]}`, "execution"},
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

const (
	offer   = `,"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`
	oldTask = `"taskId":"t","status":"working","createdAt":"2025-11-25T00:00:00Z","lastUpdatedAt":"2025-11-25T00:00:00Z","ttl":null`
	aboutT  = `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}`
)

// The experimental tasks of 2025-11-25, in sessions that offer them or do not.
func TestJudgeOfTasksInASession(t *testing.T) {
	tests := []struct{ name, version, offer, method, params, answer, wrong string }{
		{"a task", "2025-11-25", offer, "tools/call", `{"task":{}}`, `"result":{"task":{` + oldTask + `}}`, ""},
		{"no task", "2025-11-25", offer, "tools/call", `{"task":{}}`, `"result":{"content":[]}`, "task"},
		{"no task, none offered", "2025-11-25", "", "tools/call", `{"task":{}}`, `"result":{"content":[]}`, ""},
		{"a task that nobody wants", "2025-11-25", offer, "tools/call", `{}`, `"result":{"content":[],"task":{` + oldTask + `}}`, "none was asked for"},
		{"a flat task", "2025-11-25", offer, "tools/call", `{"task":{}}`, `"result":{` + oldTask + `}`, "task"},
		{"a task of the other era", "2025-11-25", offer, "tools/call", `{}`, `"result":{"content":[],"resultType":"task"}`, "another era"},
		{"a task without a time to live", "2025-11-25", offer, "tasks/get", `{"taskId":"t"}`, `"result":{"taskId":"t"}`, "ttl"},
		{"a state", "2025-11-25", offer, "tasks/get", `{"taskId":"t"}`, `"result":{` + oldTask + `}`, ""},
		{"another state", "2025-11-25", offer, "tasks/cancel", `{"taskId":"u"}`, `"result":{` + oldTask + `}`, "told of task"},
		{"a related state", "2025-11-25", offer, "tasks/get", `{"taskId":"t"}`, `"result":{` + aboutT + `,` + oldTask + `}`, "metadata"},
		{"a nested state", "2025-11-25", offer, "tasks/get", `{"taskId":"t"}`, `"result":{"task":{` + oldTask + `}}`, "taskId"},
		{"a result", "2025-11-25", offer, "tasks/result", `{"taskId":"t"}`, `"result":{"content":[],` + aboutT + `}`, ""},
		{"an unrelated result", "2025-11-25", offer, "tasks/result", `{"taskId":"t"}`, `"result":{"content":[]}`, "related"},
		{"no result", "2025-11-25", offer, "tasks/result", `{"taskId":"t"}`, `"result":{` + aboutT + `}`, "content"},
		{"a list", "2025-11-25", offer, "tasks/list", `{}`, `"result":{"tasks":[{` + oldTask + `}]}`, ""},
		{"a list of nothing", "2025-11-25", offer, "tasks/list", `{}`, `"result":{}`, "tasks"},
		{"an odd support", "2025-11-25", offer, "tools/list", `{}`, `"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"maybe"}}]}`, "taskSupport"},
		{"no support in an older session", "2025-06-18", "", "tools/list", `{}`, `"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`, "execution"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var j Judge
			complain(t, j.opened(test.version, test.offer), "")
			j.Sent(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, test.method, test.params))
			complain(t, j.Received([]byte(`{"jsonrpc":"2.0","id":1,`+test.answer+`}`)), test.wrong)
		})
	}
}

func TestJudgeOfWhatASessionOffers(t *testing.T) {
	for _, test := range []struct{ name, version, offer, wrong string }{
		{"nothing", "2025-11-25", "", ""},
		{"all", "2025-11-25", offer, ""},
		{"no list", "2025-11-25", `,"tasks":{"requests":{"tools":{"call":{}}},"cancel":{}}`, ""},
		{"no calls", "2025-11-25", `,"tasks":{"list":{},"cancel":{},"requests":{}}`, "odd"},
		{"in an older session", "2025-06-18", offer, "where there are none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var j Judge
			complain(t, j.opened(test.version, test.offer), test.wrong)
		})
	}
}

func TestJudgeOfTheNewsOfTasks(t *testing.T) {
	var j Judge
	complain(t, j.opened("2025-11-25", offer), "")
	const news = `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{`
	complain(t, j.Received([]byte(news+oldTask+`}}`)), "")
	complain(t, j.Received([]byte(news+`"taskId":"t"}}`)), "createdAt")
	complain(t, j.Received([]byte(news+aboutT+`,`+oldTask+`}}`)), "metadata")
}

// opened has the judge hear a session open.
func (j *Judge) opened(version, offer string) error {
	j.Sent([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`))
	return j.Received(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":%q,"serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{}%s}}}`, version, offer))
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
