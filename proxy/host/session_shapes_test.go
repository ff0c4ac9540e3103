package host

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

func unconnected(opts Options) *session {
	return &session{channel: newChannel(opts, "", nowhere, func(bool) {})}
}

func TestAnswerToInitializeOffersOurTasksOnly(t *testing.T) {
	const all, noList = `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`, `"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}`
	core := newCore(t, someTasks)
	for _, c := range []struct{ name, revision, said, want string }{
		{"none", "2025-11-25", `{ "tools":{} ,"x":1.0}`, `{` + all + `, "tools":{} ,"x":1.0}`},
		{"the server's own", "2025-11-25", `{"tasks":{"list":{}},"tools":{}}`, `{` + all + `,"tools":{}}`},
		{"the extension", "2025-11-25", `{"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}}}`, `{` + all + `,"extensions":{"a/b":{}}}`},
		{"an older revision", "2025-06-18", `{ "tools":{} }`, `{ "tools":{} }`},
		{"an older revision, and tasks", "2025-06-18", `{"tasks":{},"tools":{}}`, `{"tools":{}}`},
		{"hosts alike", "noList", `{}`, `{` + noList + `}`},
		{"passthrough", "passthrough", `{"tasks":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, `{"tasks":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
	} {
		revision := c.revision
		s := unconnected(Options{Proxy: core, NoList: revision == "noList", Passthrough: revision == "passthrough"})
		if s.NoList || s.Passthrough {
			revision = "2025-11-25"
		}
		m := s.agree(wire.Result(noID, []byte(`{"protocolVersion":"`+revision+`","capabilities":`+c.said+`,"y":1.0}`)))
		want := `{"protocolVersion":"` + revision + `","capabilities":` + c.want + `,"y":1.0}`
		if diff := cmp.Diff(want, string(m.Result())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// spilling hands over large results as resources of the proxy's own.
var spilling = proxy.Limits{ResultBytes: 1 << 10, LargeResults: proxy.Spill}

func TestResourcesAreOfferedWhereAHostMayBeGivenALinkToOne(t *testing.T) {
	core := limitedCore(t, someTasks, spilling)
	for _, c := range []struct {
		name, revision, said, want string
		passes                     bool
	}{
		{"none of the server's", "2025-11-25", `{"tools":{}}`, `{}`, false},
		{"the server's own", "2025-11-25", `{"resources":{"subscribe":true}}`, `{"subscribe":true}`, false},
		{"nonsense of the server's", "2025-11-25", `{"resources":null}`, `{}`, false},
		{"a revision without tasks", "2025-06-18", `{"tools":{}}`, ``, false},
		{"passthrough", "2025-11-25", `{"tools":{}}`, ``, true},
		{"of the stateless era", "", `{"tools":{}}`, `{}`, false},
		{"of the stateless era, and said nothing", "", ``, `{}`, false},
		{"of the stateless era, and passthrough", "", `{"tools":{}}`, ``, true},
		{"of the stateless era, and the server's own", "", `{"resources":{"listChanged":true}}`, `{"listChanged":true}`, false},
	} {
		opts := Options{Proxy: core, Passthrough: c.passes}
		capabilities := (&stateless{channel: newChannel(opts, "", nowhere, func(bool) {})}).capabilities([]byte(c.said))
		if c.revision != "" {
			m := unconnected(opts).agree(wire.Result(noID, []byte(`{"protocolVersion":"`+c.revision+`","capabilities":`+c.said+`}`)))
			capabilities = wire.Get(m.Result(), "capabilities")
		}
		if got := string(wire.Get(capabilities, "resources")); got != c.want {
			t.Errorf("%s: %q in %s, want %q", c.name, got, capabilities, c.want)
		}
	}
}

func TestShapesOfTheOlderTasks(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	task := taskstate.Task{ID: "i", Status: taskstate.Completed, CreatedAt: at, UpdatedAt: at.Add(time.Second), FinishedAt: at.Add(time.Second), TTL: time.Minute, PollInterval: time.Second}
	shape := func(status, message string) string {
		return `{"taskId":"i","status":"` + status + `",` + message + `"createdAt":"2026-01-02T03:04:05.000Z","lastUpdatedAt":"2026-01-02T03:04:06.000Z","ttl":61000,"pollInterval":1000}`
	}
	bad := task
	bad.IsError, bad.StatusMessage = true, "no"
	var failedOnes, completedOnes Options
	failedOnes.OlderTasks.ErrorStatus, completedOnes.OlderTasks.ErrorStatus = "failed", "completed"
	for _, c := range []struct {
		name string
		opts Options
		task taskstate.Task
		want string
	}{
		{"completed", failedOnes, task, shape("completed", "")},
		{"isError", failedOnes, bad, shape("failed", `"statusMessage":"no",`)},
		{"isError by default", Options{}, bad, shape("failed", `"statusMessage":"no",`)},
		{"isError as completed", completedOnes, bad, shape("completed", `"statusMessage":"no",`)},
	} {
		if diff := cmp.Diff(c.want, string(unconnected(c.opts).olderTask(c.task))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTaskBeginsAsWorking(t *testing.T) {
	var opts Options
	opts.OlderTasks.ImmediateResponse = `it "goes" on`
	result := unconnected(opts).created(taskstate.Task{ID: "i", Status: taskstate.InputRequired, TTL: time.Minute})
	if status := string(wire.Lookup(result, "task", "status")); status != `"working"` {
		t.Errorf("the task is made as %s", status)
	}
	if got, _ := wire.String(wire.Lookup(result, "_meta", "io.modelcontextprotocol/model-immediate-response")); got != `it "goes" on` {
		t.Errorf("the immediate response is %q", got)
	}
}

func TestResultsOfTheOlderTasks(t *testing.T) {
	const related = `"io.modelcontextprotocol/related-task":{"taskId":"i"}`
	for _, c := range []struct {
		name   string
		status taskstate.Status
		stored string
		want   string
	}{
		{"result", taskstate.Completed, `{ "content":[] ,"n":1.0}`, `"result":{"_meta":{` + related + `}, "content":[] ,"n":1.0}`},
		{"has _meta", taskstate.Completed, `{"_meta":{"a":1.0},"content":[]}`, `"result":{"_meta":{` + related + `,"a":1.0},"content":[]}`},
		{"of the other era", taskstate.Completed, `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{}},"content":[]}`, `"result":{"_meta":{` + related + `},"content":[]}`},
		{"error", taskstate.Failed, `{ "code":-7,"message":"no","data":1.0 }`, `"error":{ "code":-7,"message":"no","data":1.0 }`},
	} {
		m := payload(taskstate.Task{ID: "i", Status: c.status, Outcome: []byte(c.stored)})
		if diff := cmp.Diff(`{"jsonrpc":"2.0","id":0,`+c.want+`}`, string(m.Raw())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestWhatTTLMayBeAskedFor(t *testing.T) {
	for wish, want := range map[string]time.Duration{
		`{}`: 0, `{"ttl":null}`: 0, `{"ttl":0}`: 0, `{"ttl":1500}`: 1500 * time.Millisecond, `{"ttl":1.5e3,"x":1}`: 1500 * time.Millisecond,
		`{"ttl":-1}`: -1, `{"ttl":"1"}`: -1, `{"ttl":[]}`: -1, `[]`: -1, `true`: -1, `"x"`: -1,
	} {
		ttl, err := wishedTTL([]byte(wish))
		switch {
		case want < 0 && (err == nil || err.Code != wire.CodeInvalidParams):
			t.Errorf("%s: got %v and %v, want -32602", wish, ttl, err)
		case want >= 0 && (err != nil || ttl != want):
			t.Errorf("%s: got %v and %v, want %v", wish, ttl, err, want)
		}
	}
	if ttl, err := wishedTTL([]byte(`{"ttl":1e300}`)); err != nil || ttl < 100*365*24*time.Hour {
		t.Errorf("a very long ttl: got %v and %v", ttl, err)
	}
}
