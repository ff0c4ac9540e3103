package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// FuzzRequestState: of all states there is one that is good for a request, the
// one that was given for it, and it is good for that owner, tool and arguments
// only.
func FuzzRequestState(f *testing.F) {
	store, err := taskstate.Open(f.Context(), f.TempDir(), nil)
	if err != nil {
		f.Fatal(err)
	}
	p := New(Options{Tasks: NewTasks(store, zerolog.Nop())})
	f.Cleanup(func() { p.Close(f.Context()); _ = store.Close() })
	const owner, params = "alice", `{"name":"deploy","arguments":{"n":1}}`
	good := strings.TrimPrefix(p.seal(claims{Call: "C", Expires: time.Now().Add(time.Hour).UnixMilli()}, stateRequest(owner, "tools/call", params)), p.prefix)
	f.Add(true, "", 0, owner, []byte(params))
	f.Add(true, "", 0, "bob", []byte(params))
	f.Add(true, "A", 7, owner, []byte(` {"arguments" : {"n":1} , "name":"d\u0065ploy","_meta":{}}`))
	f.Add(true, "\n", 3, owner, []byte(`{"name":"deploy","arguments":{"n":1.0}}`))
	f.Add(false, "e30.", 0, owner, []byte(params))
	f.Fuzz(func(t *testing.T, ours bool, text string, at int, owner string, params []byte) {
		if !wire.Valid(params) {
			return
		}
		state := text
		if at = min(max(at, 0), len(good)); ours {
			state = good[:at] + text + good[min(at+len(text), len(good)):] // the text in place of a part
		}
		c, refused := p.unseal(state, stateRequest(owner, "tools/call", string(params)))
		same := state == good && owner == "alice" && string(salient(params)) == `{"arguments":{"n":1},"name":"deploy"}`
		if (refused == nil) != same || refused == nil && c.Call != "C" {
			t.Errorf("state %q (good: %v), owner %q, params %s: %v", state, state == good, owner, params, refused)
		}
	})
}
