//go:build unix

package upstream

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// children that make tasks, of both eras.
var makers = map[string]struct {
	args []string
	made string // the result that says so; %s is the task's id
}{
	"older":     {[]string{"tasks"}, `{"task":{"taskId":"%s","status":"working","pollInterval":60000}}`},
	"extension": {[]string{"tasks", "stateless"}, `{"resultType":"task","taskId":"%s","status":"working","ttlMs":null,"pollIntervalMs":50}`},
}

func newMaker(t *testing.T, kind string) puppet {
	return newPuppet(t, func(o *Options) {
		if kind == "extension" {
			o.Hello.Era = Stateless
		}
	}, makers[kind].args...)
}

// makes has the child make a task of the call.
func (p puppet) makes(f following, kind, id string) {
	p.t.Helper()
	p.await("tools/call")
	p.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, p.idOf(f.asking), fmt.Sprintf(makers[kind].made, id)))
	f.ref()
}

// await waits for a message of that method and returns the newest one.
func (p puppet) await(method string) (m wire.Message) {
	p.t.Helper()
	doing(p.t, method, func() {
		for m.Raw() == nil {
			for _, heard := range p.heard() {
				if heard.Method() == method {
					m = heard
				}
			}
			yieldABit()
		}
	})
	return m
}

func (p puppet) methods() (all []string) {
	for _, m := range p.heard() {
		if m.Method() != "server/discover" {
			all = append(all, m.Method())
		}
	}
	return all
}

func TestAChildsTasksAreFollowed(t *testing.T) {
	p := newMaker(t, "older")
	first := begin(t, p.Client, "may", nil)
	p.makes(first, "older", "t1")
	second := begin(t, p.Client, "may", nil)
	doing(t, "the second call", func() {
		for strings.Count(fmt.Sprint(p.methods()), "tools/call") < 2 {
			yieldABit()
		}
	})
	p.makes(second, "older", "t2")
	result := p.await("tasks/result")
	for string(wire.Get(result.Params(), "taskId")) != `"t2"` {
		result = p.await("tasks/result")
	}
	p.says(elicitation("1", `"io.modelcontextprotocol/related-task":{"taskId":"t1"}`), elicitation("2", fmt.Sprintf(`"progressToken":%s`, p.idOf(second.asking))))
	if q := first.next(); string(q.message.ID()) != "1" {
		t.Errorf("the first call was asked %s", q.message.Raw())
	}
	if q := second.next(); string(q.message.ID()) != "2" {
		t.Errorf("the second call was asked %s", q.message.Raw())
	}
	p.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"late":1}}`, p.idOf(second.asking))) // a second answer to the call
	p.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t2"}}}}`, result.ID()))
	if got := second.asking.result(); got != `{"content":[]}` {
		t.Errorf("got %s", got)
	}
	if len(first.answer) > 0 {
		t.Error("the other call was answered")
	}
}

func TestATaskEndsWithItsChild(t *testing.T) {
	for kind := range makers {
		p := newMaker(t, kind)
		f := begin(t, p.Client, "may", nil)
		p.makes(f, kind, "t1")
		if kind == "extension" {
			p.await("tasks/get")
		}
		if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		err := f.wantError("upstream_exited", Unknown)
		if !strings.Contains(err.ExitStatus, "killed") {
			t.Errorf("it ended with %s", err.ExitStatus)
		}
		doing(t, "the end of all that is asked", func() {
			for p.IdleFor() == 0 {
				yieldABit()
			}
		})
		if p.PID() != 0 {
			t.Error("a child was started for a task that is gone")
		}
	}
}

func TestATaskOfAChildThatIsClosedEndsWithIt(t *testing.T) {
	for kind := range makers {
		p := newMaker(t, kind)
		f := begin(t, p.Client, "may", nil)
		p.makes(f, kind, "t1")
		doing(t, "Close", func() { p.Close(t.Context()) })
		f.wantError("shutdown", Unknown)
	}
}

func TestATaskOfAChildIsCancelled(t *testing.T) {
	for kind := range makers {
		p := newMaker(t, kind)
		f := begin(t, p.Client, "may", nil)
		p.makes(f, kind, "t1")
		p.Cancel(f.request, cancelNotice)
		if m := p.await("tasks/cancel"); string(wire.Get(m.Params(), "taskId")) != `"t1"` {
			t.Errorf("%s: the child got %s", kind, m.Raw())
		}
		early := begin(t, p.Client, "may", nil)
		id := ""
		doing(t, "the call", func() {
			for id = p.idOf(early.asking); !p.hears(`"id":` + id + `,"method":"tools/call"`); yieldABit() {
				id = p.idOf(early.asking)
			}
		})
		p.Cancel(early.request, cancelNotice)
		p.await("notifications/cancelled")
		p.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, fmt.Sprintf(makers[kind].made, "t2")))
		doing(t, "the end of the other task", func() {
			for !p.hears(`"taskId":"t2"`) {
				yieldABit()
			}
		})
		if m := p.await("tasks/cancel"); string(wire.Get(m.Params(), "taskId")) != `"t2"` || len(early.answer) > 0 {
			t.Errorf("%s: the child got %s", kind, m.Raw())
		}
	}
}

// hears reports whether the child has got a message with that text in it.
func (p puppet) hears(text string) bool {
	for _, m := range p.heard() {
		if strings.Contains(string(m.Raw()), text) {
			return true
		}
	}
	return false
}

func TestNothingOvertakesACallThatWaitsForTheTools(t *testing.T) {
	p := newMaker(t, "older")
	begin(t, p.Client, "must", nil)
	send(t, p.Client, "prompts/get", `{}`, nil)
	begin(t, p.Client, "may", nil)
	p.await("prompts/get")
	want := []string{"initialize", "notifications/initialized", "tools/list", "tools/call", "prompts/get", "tools/call"}
	if diff := cmp.Diff(want, p.methods()); diff != "" {
		t.Errorf("the child got (-want +got):\n%s", diff)
	}
}

func TestToolsAreListedBehindTheHostsOwnInitialized(t *testing.T) {
	p := newPuppet(t, func(o *Options) { o.Hello.Params = []byte(`{"protocolVersion":"2025-11-25","capabilities":{}}`) }, "tasks")
	if _, err := p.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Notify(wire.Notification("notifications/initialized", nil))
	p.await("tools/list")
	if got, want := fmt.Sprint(p.methods()), "[initialize notifications/initialized tools/list]"; got != want {
		t.Errorf("the child got %s, want %s", got, want)
	}
}

func TestATaskKeepsTheLogLevelOfItsCall(t *testing.T) {
	p := newMaker(t, "older")
	f := begin(t, p.Client, "may", at("debug"))
	p.makes(f, "older", "t1")
	send(t, p.Client, "prompts/get", `{}`, at("error"))
	p.await("prompts/get")
	if m := p.await("logging/setLevel"); string(wire.Get(m.Params(), "level")) != `"debug"` {
		t.Errorf("the level was set with %s", m.Params())
	}
	p.Cancel(f.request, cancelNotice)
	send(t, p.Client, "prompts/get", `{}`, at("error"))
	doing(t, "the other level", func() {
		for !p.hears(`"level":"error"`) {
			<-time.After(time.Millisecond)
		}
	})
}
