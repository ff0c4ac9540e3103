package proxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// A result for which the store has no room is not lost as a whole.
func TestOfAResultThatTheStoreHasNoRoomForTheBeginningIsKept(t *testing.T) {
	const room = 60_000
	for name, test := range map[string]struct {
		limits Limits
		size   int
		least  int // bytes that are kept
	}{
		"as it is":        {Limits{}, room, 10_000},
		"spilled":         {Limits{ResultBytes: most, LargeResults: Spill}, room, most / 3},
		"truncated":       {Limits{ResultBytes: room * 2, LargeResults: Truncate}, 3 * room, 10_000},
		"nearly as it is": {Limits{ResultBytes: room}, room - 100, 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				store.bounded(t, room)
				r := newRig(t, store, upstream.Stateless, Policy{Task: Always}).limited(test.limits)
				id := r.calls(deploy, asTask).task().ID
				r.next().ends(ofSize(test.size, ""))
				settle()
				task := r.task(id)
				text := string(task.Outcome)
				if task.Status != taskstate.Completed || task.IsError || len(text) < test.least || !strings.Contains(text, "did not fit into limits.store_bytes") {
					t.Errorf("%s with %d bytes: %.100s … %s", end(task), len(text), text, text[max(len(text)-300, 0):])
				}
				if !strings.HasPrefix(FirstText(task.Outcome), "xxxx") {
					t.Errorf("the beginning is lost: %.300s", text)
				}
			})
		})
	}
}

func TestAnErrorForWhichThereIsNoRoomSaysHowMuchIsInUse(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		store.bounded(t, 60_000)
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
		id := r.calls(deploy, asTask).task().ID
		p := r.next()
		p.says(wire.Failure(p.message.ID(), wire.Errorf(-32000, "%s", strings.Repeat("x", 60_000))))
		settle()
		task := r.task(id)
		text, _ := wire.String(wire.Get(task.Outcome, "message"))
		if end(task) != "failed limit" || !strings.Contains(text, "it needs 60") || !strings.Contains(text, "of 60000 (limits.store_bytes) are in use") {
			t.Errorf("%s: %s", end(task), task.Outcome)
		}
	})
}

// marked is what a reader is to be told of a result that says isError only for the
// proxy's sake.
const marked = "marked as an error only because its structuredContent was left out. Do not repeat the call"

func TestAnErrorThatIsOnlyTheProxysSaysSo(t *testing.T) {
	large := `"structuredContent":{"n":"` + strings.Repeat("y", 2*most) + `"}`
	for _, kind := range []LargeResults{Truncate, Spill} {
		for name, test := range map[string]struct {
			result string
			marked bool
		}{
			"no error":       {`{"content":[{"type":"text","text":"deployed"}],` + large + `}`, true},
			"explicitly":     {`{"content":[{"type":"text","text":"deployed"}],"isError":false,` + large + `}`, true},
			"the tool's own": {`{"content":[{"type":"text","text":"broken"}],"isError":true,` + large + `}`, false},
		} {
			t.Run(string(kind)+" "+name, func(t *testing.T) {
				bubble(t, func(t *testing.T, store *disk) {
					r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
					task := r.endsWith(test.result, kind)
					if got := strings.Contains(string(task.Outcome), marked); !task.IsError || got != test.marked {
						t.Errorf("isError %v, and it says so: %v: %s", task.IsError, got, task.Outcome)
					}
					if got := strings.Contains(task.StatusMessage, marked); got != test.marked {
						t.Errorf("the status message is %s", task.StatusMessage)
					}
				})
			})
		}
	}
}

func TestWhatWasLeftOutIsNamed(t *testing.T) {
	image := `{"type":"image","data":"` + strings.Repeat("A", 5000) + `","mimeType":"image/png"}`
	linked := `{"type":"resource_link","uri":"file:///` + strings.Repeat("a", 5000) + `","name":"a"}`
	odd := `{"type":"hologram","data":"` + strings.Repeat("A", 5000) + `"}`
	result := `{"content":[` + strings.Join([]string{`{"type":"text","text":"short"}`, image, linked, linked, odd}, ",") + `]}`
	for large, want := range map[LargeResults]string{
		Truncate: "Left out: 1 image, 2 resource links, 1 content of another type.",
		Spill:    "Its content: 1 text, 1 image, 2 resource links, 1 content of another type.",
	} {
		bubble(t, func(t *testing.T, store *disk) {
			r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
			task := r.endsWith(result, large)
			if !strings.Contains(string(task.Outcome), want) || !strings.Contains(string(task.Outcome), "short") || len(task.Outcome) > most {
				t.Errorf("%s: %s", large, task.Outcome)
			}
		})
	}
}

func TestAResultWhoseFileIsLostIsDoneAndNotToBeRepeated(t *testing.T) {
	for how, harm := range map[string]func(path string) error{
		"gone":    os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) },
	} {
		t.Run(how, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
				task := r.endsWith(ofSize(10_000, ""), Spill)
				files, _ := filepath.Glob(filepath.Join(store.dir, "spilled", "*"))
				if len(files) != 1 || harm(files[0]) != nil {
					t.Fatalf("there are the files %q", files)
				}
				before := r.errors.Load()
				uri := wire.Get(wire.Elements(wire.Get(task.Outcome, "content"))[1], "uri")
				e := r.reads(uri, "").wantRefused("storage")
				text, _ := wire.String(wire.Get(e, "message"))
				if !strings.Contains(text, "whole result of task "+task.ID+": its file is "+how) || string(wire.Lookup(e, "data", "outcome")) != `"done"` {
					t.Errorf("the host is told %s", e)
				}
				if strings.Contains(string(e), store.dir) || r.errors.Load() == before {
					t.Errorf("the host is told %s, and the log %d errors", e, r.errors.Load()-before)
				}
				if other := r.reads(uri, "bob").next().message; string(wire.Get(other.Err(), "code")) != "-32002" {
					t.Errorf("another owner gets %s", other.Raw())
				}
			})
		})
	}
}
