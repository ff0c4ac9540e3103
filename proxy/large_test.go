package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// most is limits.result_bytes in these tests.
const most = 4000

// endsWith is the task whose server answers with that result.
func (r *rig) endsWith(result string, large LargeResults) taskstate.Task {
	r.t.Helper()
	r.limited(Limits{ResultBytes: most, LargeResults: large})
	id := r.calls(deploy, asTask).task().ID
	r.next().ends(result)
	settle()
	return r.task(id)
}

// ofSize is a result of exactly so many bytes.
func ofSize(n int, more string) string {
	frame := `{"content":[{"type":"text","text":""}]` + more + `}`
	return strings.Replace(frame, `""`, `"`+strings.Repeat("x", n-len(frame))+`"`, 1)
}

func TestAResultUpToTheLimitStaysAsItIs(t *testing.T) {
	for _, large := range []LargeResults{"", Reject, Truncate, Spill} {
		bubble(t, func(t *testing.T, store *disk) {
			r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
			if task := r.endsWith(ofSize(most, ""), large); string(task.Outcome) != ofSize(most, "") {
				t.Errorf("%q: stored is %.100s", large, task.Outcome)
			}
		})
	}
}

func TestALargeResultIsRejected(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
		task := r.endsWith(ofSize(most+1, ""), Reject)
		if limit, _ := wire.String(wire.Lookup(task.Outcome, "data", "limit")); task.Status != taskstate.Failed || limit != "result_bytes: 4000" {
			t.Errorf("%s with %s", task.Status, task.Outcome)
		}
	})
}

func TestALargeErrorIsNotStoredWhateverHappensToResults(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always}).limited(Limits{ResultBytes: most, LargeResults: Spill})
		id := r.calls(deploy, asTask).task().ID
		p := r.next()
		p.says(wire.Failure(p.message.ID(), wire.Errorf(-32000, "%s", strings.Repeat("x", most))))
		settle()
		task := r.task(id)
		if task.Status != taskstate.Failed || len(task.Outcome) > most || string(wire.Get(task.Outcome, "code")) != "-32000" {
			t.Errorf("%s with %.200s", task.Status, task.Outcome)
		}
		if text, _ := wire.String(wire.Get(task.Outcome, "message")); !strings.HasPrefix(text, "xxxx") {
			t.Errorf("what the server said is lost: %s", text)
		}
	})
}

func TestALargeResultIsTruncated(t *testing.T) {
	quotes := strings.Repeat(`\"`, 4000)
	for name, test := range map[string]struct{ result, shown, flag string }{
		"one text":        {`{"content":[{"type":"text","text":"` + strings.Repeat("ä", 4000) + `"}]}`, `"ää`, ""},
		"all escapes":     {`{"content":[{"type":"text","text":"` + quotes + `"}]}`, `\"\"\"`, ""},
		"first text fits": {`{"content":[{"type":"text","text":"small"},{"type":"image","data":"` + strings.Repeat("A", 5000) + `"}]}`, `"small"`, ""},
		"structured, small": {
			`{"content":[{"type":"text","text":"` + strings.Repeat("x", 5000) + `"}],"structuredContent":{"n":1}}`, `"structuredContent":{"n":1}`, ""},
		"structured, large": {
			`{"content":[],"structuredContent":{"n":"` + strings.Repeat("x", 5000) + `"}}`, `cut by mcp-taskproxy`, "true"},
		"an error": {`{"content":[{"type":"text","text":"` + strings.Repeat("x", 5000) + `"}],"isError":true}`, `"xxx`, "true"},
	} {
		bubble(t, func(t *testing.T, store *disk) {
			r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
			task := r.endsWith(test.result, Truncate)
			switch got := string(task.Outcome); {
			case task.Status != taskstate.Completed || len(got) > most:
				t.Errorf("%s: %s with %d bytes", name, task.Status, len(got))
			case !strings.Contains(got, test.shown) || !strings.Contains(got, fmt.Sprintf("it has %d bytes", len(test.result))):
				t.Errorf("%s: %s", name, got)
			case string(wire.Get(task.Outcome, "isError")) != test.flag || task.IsError != (test.flag == "true"):
				t.Errorf("%s: isError %s, and %v", name, wire.Get(task.Outcome, "isError"), task.IsError)
			}
			if _, err := wire.Parse(wire.Result(noID, task.Outcome).Raw()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// reads is the answer to a resources/read of an owner.
func (r *rig) reads(uri []byte, owner string) *call {
	return r.calls("{}", func(req *Request) {
		req.Owner, req.Message = owner, wire.Request(1, "resources/read", wire.Set(nil, "uri", uri))
	})
}

func TestALargeResultIsReadByItsOwnerAlone(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
		whole := ofSize(100_000, `,"structuredContent":{"n":9007199254740993}`)
		task := r.endsWith(whole, Spill)
		content := wire.Elements(wire.Get(task.Outcome, "content"))
		if task.Status != taskstate.Completed || len(task.Outcome) > most || len(content) != 2 {
			t.Fatalf("%s with %s", task.Status, task.Outcome)
		}
		if string(wire.Lookup(task.Outcome, "structuredContent", "n")) != "9007199254740993" {
			t.Errorf("what programs read is lost: %s", task.Outcome)
		}
		uri := wire.Get(content[1], "uri")
		read := wire.Elements(wire.Get(r.reads(uri, "").result(), "contents"))
		if text, _ := wire.String(wire.Get(read[0], "text")); text != whole || string(wire.Get(read[0], "uri")) != string(uri) {
			t.Errorf("read %d bytes of %s", len(text), wire.Get(read[0], "uri"))
		}
		for who, uri := range map[string][]byte{"bob": uri, "": []byte(`"mcp-taskproxy://results/../MANIFEST"`)} {
			if got := r.reads(uri, who).next().message; string(wire.Get(got.Err(), "code")) != "-32002" {
				t.Errorf("%s reads %s and gets %.200s", who, uri, got.Raw())
			}
		}
	})
}

func TestAFullDiskSaysWhyALargeResultIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always}).limited(Limits{ResultBytes: most, LargeResults: Spill})
		id := r.calls(deploy, asTask).task().ID
		p := r.next()
		store.full.Store(true)
		p.ends(ofSize(most+1, ""))
		settle()
		store.full.Store(false)
		settle()
		if reason, _ := wire.String(wire.Lookup(r.task(id).Outcome, "data", "reason")); reason != "no_space" {
			t.Errorf("the task ended with %s", r.task(id).Outcome)
		}
	})
}
