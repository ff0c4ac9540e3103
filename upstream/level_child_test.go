//go:build unix

package upstream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func TestAChildHearsOfTheLevelJustBeforeTheRequest(t *testing.T) {
	p := newPuppet(t, nil)
	if _, err := p.Connect(t.Context()); err != nil { // what waits for the start is open together
		t.Fatal(err)
	}
	var want []string
	for i, c := range []struct{ level, set string }{{"info", "info"}, {"", ""}, {"error", ""}, {"debug", "debug"}, {"info", ""}} {
		change := at(c.level)
		if c.level == "" {
			change = nil
		}
		send(t, p.Client, "tools/call", fmt.Sprintf(`{"call":%d}`, i), change)
		if c.set != "" {
			want = append(want, "logging/setLevel "+c.set)
		}
		want = append(want, fmt.Sprint("tools/call ", i))
	}
	if diff := cmp.Diff(want, p.heardOfCalls()); diff != "" {
		t.Errorf("the child heard (-want +got):\n%s", diff)
	}
}

func (p puppet) heardOfCalls() (all []string) {
	p.t.Helper()
	for _, m := range p.heard() {
		if m.Method() == "tools/call" || m.Method() == "logging/setLevel" {
			level, _ := wire.String(wire.Get(m.Params(), "level"))
			all = append(all, m.Method()+" "+level+string(wire.Get(m.Params(), "call")))
		}
	}
	return all
}

// Calls that go out at once from several goroutines find their level set.
func TestNoCallOvertakesItsLevel(t *testing.T) {
	p := newPuppet(t, nil)
	ask(t, p.Client, "x/heard", "{}")
	begin, sent := make(chan struct{}), make(chan struct{}, len(LogLevels))
	for i, level := range LogLevels {
		r := &Request{Message: wire.Request(0, "tools/call", fmt.Appendf(nil, `{"call":%d}`, i)), Reply: func(wire.Message, *Error) {}}
		at(level)(r)
		go func() {
			<-begin
			p.Send(r)
			sent <- struct{}{}
		}()
	}
	close(begin)
	for range LogLevels {
		within(t, "Send", sent)
	}
	now := len(LogLevels)
	for _, what := range p.heardOfCalls() {
		method, arg, _ := strings.Cut(what, " ")
		if method == "logging/setLevel" {
			now = indexOf(arg)
		} else if wanted := int(arg[0] - '0'); wanted < now {
			t.Errorf("a call with level %s came while %d was set", LogLevels[wanted], now)
		}
	}
}

func indexOf(level string) int {
	r := &Request{}
	at(level)(r)
	return r.level()
}

func TestAChildIsDeclaredMoreOnceItIsFree(t *testing.T) {
	p := newPuppet(t, func(o *Options) { o.Hello.Era = Stateless })
	ask(t, p.Client, "x/heard", "{}")
	call := send(t, p.Client, "tools/call", "{}", nil)
	p.Declare([]byte(`{"sampling":{}}`))
	if got := p.declared(); got != "{}" {
		t.Errorf("a busy child was declared %s", got)
	}
	p.ends(call)
	p.Declare([]byte(`{"sampling":{}}`))
	if got := p.declared(); got != `{"sampling":{}}` {
		t.Errorf("a free child was declared %s", got)
	}
}

// declared are the capabilities that this run of the child was greeted with.
func (p puppet) declared() string {
	p.t.Helper()
	for _, m := range p.heard() {
		if m.Method() == "initialize" {
			return string(wire.Get(m.Params(), "capabilities"))
		}
	}
	return ""
}
