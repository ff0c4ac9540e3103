package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

func TestRequestStateIsBoundToItsRequest(t *testing.T) {
	p := newTestProxy(t)
	first := stateRequest("alice", "tools/call", `{"name":"deploy","arguments":{"n":1,"s":"x"},"_meta":{"a":1}}`)
	state := strings.TrimPrefix(p.seal(claims{Call: "C", Expires: time.Now().Add(time.Minute).UnixMilli()}, first), p.prefix)
	head, mac, _ := strings.Cut(state, ".")
	for name, c := range map[string]struct {
		state string
		req   *Request
		want  *wire.Error
	}{
		"as it came":        {state, first, nil},
		"spelled otherwise": {state, stateRequest("alice", "tools/call", `{ "_meta":{}, "arguments":{"s":"\u0078", "n":1},"inputResponses":{}, "requestState":"s", "name":"deploy" }`), nil},
		"other owner":       {state, stateRequest("bob", "tools/call", string(first.Message.Params())), errStateForged},
		"other tool":        {state, stateRequest("alice", "tools/call", `{"name":"destroy","arguments":{"n":1,"s":"x"}}`), errStateForged},
		"other arguments":   {state, stateRequest("alice", "tools/call", `{"name":"deploy","arguments":{"n":2,"s":"x"}}`), errStateForged},
		"rounded argument":  {state, stateRequest("alice", "tools/call", `{"name":"deploy","arguments":{"n":1.0,"s":"x"}}`), errStateForged},
		"other method":      {state, stateRequest("alice", "prompts/get", string(first.Message.Params())), errStateForged},
		"other claims":      {"e30." + mac, first, errStateForged},
		"other mac":         {head + "." + strings.Repeat("A", len(mac)), first, errStateForged},
		"cut":               {head, first, errStateForged},
		"no base64":         {"!.!", first, errStateForged},
		"empty":             {"", first, errStateForged},
		"line end behind":   {state + "\n", first, errStateForged},
		"line end inside":   {head[:4] + "\r\n" + head[4:] + "." + mac, first, errStateForged},
	} {
		got, err := p.unseal(c.state, c.req)
		if err != c.want || err == nil && got.Call != "C" {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
		}
	}
}

func TestRequestStateExpires(t *testing.T) {
	p := newTestProxy(t)
	req := stateRequest("", "tools/call", `{"name":"deploy"}`)
	state := strings.TrimPrefix(p.seal(claims{Call: "C", Expires: time.Now().UnixMilli()}, req), p.prefix)
	if _, err := p.unseal(state, req); err != errStateExpired {
		t.Errorf("got %v", err)
	}
}

func stateRequest(owner, method, params string) *Request {
	return &Request{Owner: owner, Message: wire.Request(1, method, []byte(params))}
}

func newTestProxy(t *testing.T) *Proxy {
	t.Helper()
	store, err := taskstate.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Tasks: NewTasks(store, zerolog.Nop())})
	t.Cleanup(func() {
		p.Close(t.Context())
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
