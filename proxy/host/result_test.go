package host

import "testing"

func TestResultsGetWhatTheRevisionRequires(t *testing.T) {
	for _, c := range []struct{ name, method, result, want string }{
		{"call", "tools/call", `{"content":[]}`, `{"resultType":"complete","content":[]}`},
		{"has a type", "tools/call", `{"resultType":"complete","x":1.0}`, `{"resultType":"complete","x":1.0}`},
		{"list", "tools/list", `{ "tools" : [] }`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private", "tools" : [] }`},
		{"list with hints", "tools/list", `{"ttlMs":5,"cacheScope":"public"}`, `{"resultType":"complete","ttlMs":5,"cacheScope":"public"}`},
		{"interim", "resources/read", `{"resultType":"input_required"}`, `{"resultType":"input_required"}`},
		{"empty", "vendor/x", `{}`, `{"resultType":"complete"}`},
	} {
		if got := string(completed(c.method, []byte(c.result))); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestOlderTasksFieldIsTakenOffTools(t *testing.T) {
	in := `{"tools":[{"name":"a","execution":{"taskSupport":"forbidden"}},{"name":"b","x":1.0}],"nextCursor":"c"}`
	want := `{"tools":[{"name":"a"},{"name":"b","x":1.0}],"nextCursor":"c"}`
	if got := string(withoutExecution([]byte(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	same := `{"tools":[ {"name":"b"} ]}`
	if got := string(withoutExecution([]byte(same))); got != same {
		t.Errorf("a list without the field was rewritten: %s", got)
	}
}

func TestCapabilitiesAdvertiseOneKindOfTasks(t *testing.T) {
	in := `{"tasks":{"list":{}},"tools":{"listChanged":true},"extensions":{"x/y":{"a":1}}}`
	want := `{"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{"a":1}}}`
	if got := string(withTasks([]byte(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(withTasks(nil)); got != `{"extensions":{"io.modelcontextprotocol/tasks":{}}}` {
		t.Errorf("got %s for a server without capabilities", got)
	}
}
