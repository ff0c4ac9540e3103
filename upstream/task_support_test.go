package upstream

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func wishes(r *Request) { r.Task = &TaskWish{TTL: 90 * time.Second} }

func TestACallIsMadeAsATaskWhereItsToolTakesThat(t *testing.T) {
	for name, c := range map[string]struct {
		tool   string
		change func(*Request)
		want   string // the member task
	}{
		"required":                         {"must", nil, "{}"},
		"required, with a wish":            {"must", wishes, `{"ttl":90000}`},
		"required, and not to be one":      {"must", func(r *Request) { wishes(r); r.NoTask = true }, ""},
		"optional":                         {"may", nil, ""},
		"optional, with a wish":            {"may", wishes, `{"ttl":90000}`},
		"optional, with a wish of no time": {"may", func(r *Request) { r.Task = &TaskWish{} }, "{}"},
		"forbidden, with a wish":           {"never", wishes, ""},
		"of which nothing is said":         {"plain", wishes, ""},
		"that is not listed":               {"new", wishes, ""},
		"of a stateless host":              {"must", func(r *Request) { r.Caller.Stateless = true }, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTaskServer(t, false)
			s.on("tools/call", result(`{"content":[],"task":{"taskId":"x"}}`)) // the answer, for what has content is a result
			s.on("tools/list", pages(strings.Split(strings.ReplaceAll(taskTools, "},{", "}\n{"), "\n")...))
			got := send(t, dial(t, s.URL, nil), "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":1.0}}`, c.tool), c.change).result()
			if got != `{"content":[],"task":{"taskId":"x"}}` {
				t.Errorf("the answer came as %s", got)
			}
			params := s.expect("tools/call", 1)[0].message.Params()
			if got := string(wire.Get(params, "task")); got != c.want || string(wire.Get(params, "arguments")) != `{"n":1.0}` {
				t.Errorf("the server got %s, want task %q", params, c.want)
			}
			if strings.HasSuffix(name, "not to be one") {
				return // it need not wait for the list
			}
			s.expect("tools/list", 4)
		})
	}
}

func TestAServerWithoutTheCapabilityIsNeitherListedNorAskedForTasks(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result(`{"tools":[` + taskTools + `]}`), "tools/call": result("{}")})
	c := dial(t, server.URL, nil)
	for _, tool := range []string{"must", "may"} {
		send(t, c, "tools/call", fmt.Sprintf(`{"name":%q}`, tool), wishes).result()
	}
	server.expect("tools/list", 0)
	for _, v := range server.visits("tools/call") {
		if wire.Get(v.message.Params(), "task") != nil {
			t.Errorf("the server got %s", v.message.Raw())
		}
	}
}

func TestToolsAreListedAgainWhenTheyChange(t *testing.T) {
	s := newTaskServer(t, false)
	say := make(chan string)
	s.on("GET", speaking(say))
	c := dial(t, s.URL, nil)
	ask(t, c, "tools/call", `{"name":"later"}`)
	s.expect("tools/list", 1)
	release := make(chan struct{})
	s.on("tools/list", func(w http.ResponseWriter, v visit) {
		<-release
		result(`{"tools":[{"name":"later","execution":{"taskSupport":"required"}}]}`)(w, v)
	})
	say <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	s.await("tools/list", 2)
	f := begin(t, c, "later", nil) // it is not known yet, and waits
	close(release)
	f.ref()
	s.expect("tools/list", 2)
}

func TestWhatAHostsOwnListSaysIsKnownBeforeItsCall(t *testing.T) {
	s := newTaskServer(t, false)
	c := dial(t, s.URL, nil)
	ask(t, c, "tools/call", `{"name":"may"}`)
	s.on("tools/list", result(`{"tools":[{"name":"may","execution":{"taskSupport":"required"}}]}`)) // of which the server says nothing
	ask(t, c, "tools/list", `{}`)
	send(t, c, "tools/call", `{"name":"may"}`, nil)
	if v := s.await("tools/call", 2); string(wire.Get(v.message.Params(), "task")) != "{}" {
		t.Errorf("the server got %s", v.message.Params())
	}
}

func TestToolsThatCannotBeListedHoldUpNoCallForEver(t *testing.T) {
	for name, list := range map[string]handler{
		"refused": failure(200, wire.CodeInternal, "no"), "without end": result(`{"tools":[],"nextCursor":"again"}`), "never answered": hang,
	} {
		t.Run(name, func(t *testing.T) {
			s := newTaskServer(t, false)
			s.on("tools/list", list)
			inTime(t, s, func(t *testing.T, c *Client) {
				began := time.Now()
				for range 3 {
					wait(t, send(t, c, "tools/call", `{"name":"must"}`, nil), `{"content":[],"plain":true}`)
				}
				if took := time.Since(began); took > fetchLimit {
					t.Errorf("the calls took %v", took)
				}
				lists := len(s.visits("tools/list"))
				s.on("tools/list", result(`{"tools":[`+taskTools+`]}`))
				time.Sleep(fetchRest)
				f := begin(t, c, "must", nil)
				f.ref()
				s.expect("tools/list", lists+1)
				c.Cancel(f.request, wire.Notification("notifications/cancelled", nil))
			})
		})
	}
}

func TestAServerWhoseToolsChangeAllTheTimeIsNotAskedAllTheTime(t *testing.T) {
	s := newTaskServer(t, false)
	s.pace = `,"pollInterval":60000`
	const changed = `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n\n"
	s.on("tools/list", sse(changed, `data: {"jsonrpc":"2.0","id":$ID,"result":{"tools":[`+taskTools+`]}}`+"\n\n", changed))
	inTime(t, s, func(t *testing.T, c *Client) {
		begin(t, c, "must", wishes)
		time.Sleep(time.Hour)
		if n := len(s.visits("tools/list")); n < 30 || n > 100 {
			t.Errorf("in an hour the tools were listed %d times", n)
		}
	})
}

func TestWhatIsKnownOfToolsIsBounded(t *testing.T) {
	listed := &taskSupport{tools: map[string]support{}}
	learn := func(name string) {
		tool := wire.Set(wire.Set(nil, "execution", []byte(`{"taskSupport":"required"}`)), "name", wire.Quote(name))
		listed.learn(wire.Result([]byte("1"), wire.Set(nil, "tools", wire.Array([][]byte{tool}))))
	}
	for n := range maxTaskTools + 10 {
		learn(fmt.Sprint("t", n))
	}
	if len(listed.tools) != maxTaskTools || listed.tools["t1"] != required {
		t.Errorf("%d tools are known", len(listed.tools))
	}
	listed = &taskSupport{tools: map[string]support{}}
	for n := range 1000 {
		learn(fmt.Sprint(n, strings.Repeat("x", 10000)))
	}
	if listed.names > maxTaskNames || len(listed.tools) == 0 {
		t.Errorf("%d bytes of names are kept", listed.names)
	}
}
