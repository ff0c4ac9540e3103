package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func newOlderHost(t *testing.T, opts Options) *talker {
	t.Helper()
	if opts.Proxy == nil {
		opts.Proxy = newCore(t, someTasks)
	}
	h := newTalker(t, opts)
	h.opens("2025-11-25")
	return h
}

func TestLifeOfAnOlderTask(t *testing.T) {
	h := newOlderHost(t, Options{})
	id := h.makes("hold")
	if m := h.asks("1", "tasks/get", `{"taskId":"`+id+`","task":{}}`); string(wire.Get(m.Result(), "status")) != `"working"` {
		t.Errorf("tasks/get: %s", m.Raw())
	}
	h.begins("2", "tasks/result", `{"taskId":"`+id+`","task":{}}`)
	progress := h.hears("progress", calls("notifications/progress"))
	if want := `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + id + `"}},"progressToken":"p","progress":1}`; string(progress.Params()) != want {
		t.Errorf("progress: got %s, want %s", progress.Params(), want)
	}
	h.hasNot("an answer to tasks/result before the end", answers("2"))
	h.asks("3", "tools/call", `{"name":"release"}`)
	result := h.hears("the answer to tasks/result", answers("2"))
	want := `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + id + `"}},"content":[], "n":9007199254740993}`
	if diff := cmp.Diff(want, string(result.Result())); diff != "" {
		t.Errorf("tasks/result (-want +got):\n%s", diff)
	}
	told := h.becomes(id, "completed")
	if m := h.asks("4", "tasks/get", taskParams(id)); string(m.Result()) != string(told.Params()) {
		t.Errorf("tasks/get and the notification differ:\n%s\n%s", m.Result(), told.Params())
	}
	wantCode(t, "tasks/cancel after the end", h.asks("5", "tasks/cancel", taskParams(id)), "-32602")
}

func TestCallOfAnOlderTaskIsPassedOnWithoutTheWish(t *testing.T) {
	h := newOlderHost(t, Options{})
	m := h.asks("1", "tools/call", `{"name":"echo","task":{"ttl":60000},"arguments":{"a":1.0}}`)
	id, _ := wire.String(wire.Lookup(m.Result(), "task", "taskId"))
	if ttl := string(wire.Lookup(m.Result(), "task", "ttl")); ttl != "60000" {
		t.Errorf("ttl is %s, want what was asked for", ttl)
	}
	got := wire.Get(h.asks("2", "tasks/result", taskParams(id)).Result(), "got")
	if wire.Get(got, "task") != nil || string(wire.Get(got, "arguments")) != `{"a":1.0}` {
		t.Errorf("the server got %s", got)
	}
}

func TestTTLIsBoundedByThePolicy(t *testing.T) {
	h := newOlderHost(t, Options{})
	m := h.asks("1", "tools/call", `{"name":"echo","task":{"ttl":1e300}}`)
	if ttl := string(wire.Lookup(m.Result(), "task", "ttl")); ttl != "3600000" {
		t.Errorf("ttl is %s, want the policy's: %s", ttl, m.Raw())
	}
}

func TestResultWithIsErrorIsAFailureAndStillWhole(t *testing.T) {
	for errorStatus, want := range map[string]string{"failed": "failed", "": "failed", "completed": "completed"} {
		h := newOlderHost(t, Options{OlderTasks: OlderTasks{ErrorStatus: errorStatus}})
		id := h.makes("bad")
		told := h.becomes(id, want)
		if text := string(wire.Get(told.Params(), "statusMessage")); text != `"it did not work"` {
			t.Errorf("statusMessage is %s", text)
		}
		if m := h.asks("1", "tasks/result", taskParams(id)); string(wire.Get(m.Result(), "isError")) != "true" {
			t.Errorf("tasks/result: %s", m.Raw())
		}
	}
}

func TestErrorOfTheServerIsTheResult(t *testing.T) {
	h := newOlderHost(t, Options{})
	id := h.makes("error")
	m := h.asks("1", "tasks/result", taskParams(id))
	if want := `{"code":-7,"message":"no","data":{"n":1.0}}`; string(m.Err()) != want {
		t.Errorf("got %s, want the error %s", m.Raw(), want)
	}
	h.becomes(id, "failed")
}

func TestCancelledOlderTask(t *testing.T) {
	h := newOlderHost(t, Options{})
	id := h.holds()
	h.begins("1", "tasks/result", taskParams(id))
	if m := h.asks("2", "tasks/cancel", taskParams(id)); string(wire.Get(m.Result(), "status")) != `"cancelled"` {
		t.Errorf("tasks/cancel: %s", m.Raw())
	}
	wantCode(t, "tasks/result", h.hears("the answer to tasks/result", answers("1")), "-32603")
	wantCode(t, "tasks/cancel once more", h.asks("3", "tasks/cancel", taskParams(id)), "-32602")
}

func TestToCancelTheWaitIsNotToCancelTheTask(t *testing.T) {
	h := newOlderHost(t, Options{})
	id := h.holds()
	h.begins("1", "tasks/result", taskParams(id))
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`)
	if m := h.asks("2", "tasks/get", taskParams(id)); string(wire.Get(m.Result(), "status")) != `"working"` {
		t.Errorf("tasks/get: %s", m.Raw())
	}
	h.asks("3", "tools/call", `{"name":"release"}`)
	h.becomes(id, "completed")
	h.hasNot("an answer to what was cancelled", answers("1"))
}

func TestOlderTaskIsNotCancelledByCancellingItsCall(t *testing.T) {
	h := newOlderHost(t, Options{})
	id := h.holds()
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"make"}}`)
	h.asks("1", "tools/call", `{"name":"release"}`)
	h.becomes(id, "completed")
}

func TestWhatIsRefusedOfOlderTasks(t *testing.T) {
	h := newOlderHost(t, Options{})
	for _, c := range []struct{ name, method, params, code, says string }{
		{"unknown id", "tasks/get", `{"taskId":"AAAAAAAAAAAAAAAAAAAAAAAAAA"}`, "-32602", "not found"},
		{"unknown id", "tasks/result", `{"taskId":"nonsense"}`, "-32602", "not found"},
		{"unknown id", "tasks/cancel", `{"taskId":""}`, "-32602", "not found"},
		{"no id", "tasks/get", `{}`, "-32602", "taskId"},
		{"no id", "tasks/result", `{"taskId":7}`, "-32602", "taskId"},
		{"a method of the extension", "tasks/update", `{"taskId":"x","inputResponses":{}}`, "-32601", "2025-11-25"},
		{"bad cursor", "tasks/list", `{"cursor":"nonsense"}`, "-32602", "cursor"},
		{"cursor of another type", "tasks/list", `{"cursor":7}`, "-32602", "cursor"},
		{"tool that is never a task", "tools/call", `{"name":"never","task":{}}`, "-32601", "without params.task"},
		{"tool that is always a task", "tools/call", `{"name":"required"}`, "-32601", "params.task"},
		{"bad ttl", "tools/call", `{"name":"hold","task":{"ttl":"long"}}`, "-32602", "ttl"},
		{"bad task", "tools/call", `{"name":"hold","task":7}`, "-32602", "task"},
	} {
		m := h.asks("1", c.method, c.params)
		wantCode(t, c.name, m, c.code)
		if text, _ := wire.String(wire.Get(m.Err(), "message")); !strings.Contains(text, c.says) {
			t.Errorf("%s: the error does not say %q: %s", c.name, c.says, text)
		}
	}
	if m := h.asks("2", "tools/call", `{"name":"echo","task":null}`); wire.Get(m.Result(), "got") == nil {
		t.Errorf("a call with task null is an ordinary one: %s", m.Raw())
	}
}

func TestListOfOlderTasks(t *testing.T) {
	h := newOlderHost(t, Options{})
	want := map[string]bool{}
	for range pageOfTasks + 1 {
		want[h.makes("echo")] = true
	}
	cursor, params := []byte(nil), `{}`
	for pages := 1; ; pages++ {
		m := h.asks(fmt.Sprint("page", pages), "tasks/list", params)
		for _, task := range wire.Elements(wire.Get(m.Result(), "tasks")) {
			id, _ := wire.String(wire.Get(task, "taskId"))
			if !want[id] {
				t.Errorf("%s is there twice, or none of ours", id)
			}
			delete(want, id)
		}
		if cursor = wire.Get(m.Result(), "nextCursor"); cursor == nil {
			break
		}
		params = `{"cursor":` + string(cursor) + `}`
	}
	if len(want) > 0 {
		t.Errorf("%d tasks are missing", len(want))
	}
}

func TestListIsNotForHostsThatCannotBeToldApart(t *testing.T) {
	h := newOlderHost(t, Options{NoList: true})
	wantCode(t, "tasks/list", h.asks("1", "tasks/list", `{}`), "-32601")
}

func TestToolsSayWhetherTheyMayBeTasks(t *testing.T) {
	for revision, want := range map[string]string{
		"2025-11-25": `{"tools":[{"name":"hold","execution":{"taskSupport":"optional","x":1.0}},{"execution":{"taskSupport":"optional"},"name":"quick"},{"execution":{"taskSupport":"forbidden"},"name":"never"}]}`,
		"2025-06-18": `{"tools":[{"name":"hold"},{"name":"quick"},{"name":"never"}]}`,
	} {
		h := newTalker(t, Options{Proxy: newCore(t, someTasks)})
		h.opens(revision)
		if diff := cmp.Diff(want, string(h.asks("1", "tools/list", `{}`).Result())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", revision, diff)
		}
	}
}

func TestOlderRevisionsHaveNoTasks(t *testing.T) {
	h := newTalker(t, Options{Proxy: newCore(t, someTasks)})
	result := h.opens("2025-06-18")
	if wire.Lookup(result, "capabilities", "tasks") != nil {
		t.Errorf("tasks are offered: %s", result)
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"} {
		m := h.asks("1", method, `{"taskId":"x"}`)
		wantCode(t, method, m, "-32601")
		if !strings.Contains(string(m.Err()), "2025-06-18") {
			t.Errorf("%s was not refused by us: %s", method, m.Raw())
		}
	}
	if m := h.asks("2", "tools/call", `{"name":"echo","task":{}}`); wire.Lookup(m.Result(), "got", "task") != nil {
		t.Errorf("the server could make a task of it, which nobody would find: %s", m.Raw())
	}
	m := h.asks("3", "tools/call", `{"name":"required"}`)
	wantCode(t, "a tool that is always a task", m, "-32601")
}

func TestPassthroughMakesNoTasks(t *testing.T) {
	core := newCore(t, proxy.Policies{Default: proxy.Policy{Task: proxy.Always}})
	h := newTalker(t, Options{Proxy: core, Passthrough: true})
	if result := h.opens("2025-11-25"); string(wire.Get(result, "capabilities")) != `{"tools":{"listChanged":true}, "x":1.0}` {
		t.Errorf("the answer to initialize was changed: %s", result)
	}
	if m := h.asks("1", "tools/call", `{"name":"echo","task":{"ttl":1}}`); string(wire.Lookup(m.Result(), "got", "task")) != `{"ttl":1}` {
		t.Errorf("tools/call: %s", m.Raw())
	}
	m := h.asks("2", "tasks/get", `{"taskId":"x"}`)
	if !strings.Contains(string(m.Err()), "the server does not know it") {
		t.Errorf("tasks/get: %s", m.Raw())
	}
}
