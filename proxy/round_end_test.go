package proxy

import (
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// A form can be declined; of other questions the server cannot be told that
// nobody has answered.
func TestARoundThatNobodyAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		questions string
		repeated  []string // with these keys declined; nil for not at all
		want      string
	}{
		"form":     {`{"x":` + elicitation + `,"y":` + elicitation + `}`, []string{"x", "y"}, "completed"},
		"sampling": {`{"x":` + sampling + `}`, nil, "failed no_answer"},
		"roots":    {`{"x":` + roots + `}`, nil, "failed no_answer"},
		"both":     {`{"x":` + sampling + `,"y":` + roots + `}`, nil, "failed no_answer"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Stateless, Policy{Task: Always, InputTimeout: time.Second})
				id := r.calls(deploy, asTask).task().ID
				r.server.next().asksBack(`"s"`, c.questions)
				time.Sleep(time.Second)
				if c.repeated != nil {
					p := r.server.next()
					p.wantParam("requestState", `"s"`)
					for _, key := range c.repeated {
						p.wantResponse(key, `{"action":"decline"}`)
					}
					p.ends(done)
				}
				r.wantEnd(id, c.want)
				r.server.idle(time.Second)
				r.wantIdle()
			})
		})
	}
}

func (p *play) wantResponse(key, want string) {
	p.server.t.Helper()
	if got := string(wire.Lookup(p.message.Params(), keyResponses, key)); got != want {
		p.server.t.Errorf("the answer to %s is %s, want %s", key, got, want)
	}
}

func TestARoundThatCannotBeAskedEndsTheCall(t *testing.T) {
	for name, questions := range map[string]string{
		"undeclared elicitation":  one,
		"undeclared among others": `{"a":` + roots + `,"x":` + elicitation + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				for _, tasks := range []bool{false, true} {
					r := newRig(t, store, upstream.Stateless, inTask)
					c := r.calls(deploy, func(req *Request) {
						req.Tasks, req.Caller.Capabilities = tasks, []byte(`{"roots":{}}`)
					})
					r.server.next().asksBack(`"s"`, questions)
					got := c.next().message
					if string(wire.Get(got.Err(), "code")) != "-32021" || wire.Lookup(got.Err(), "data", "requiredCapabilities", "elicitation") == nil {
						t.Errorf("the host got %s", got.Raw())
					}
					r.server.idle(time.Second)
					r.wantIdle()
				}
			})
		})
	}
}

func TestARoundThatMakesNoSenseEndsTheTask(t *testing.T) {
	for name, result := range map[string]string{
		"nothing":           `{"resultType":"input_required"}`,
		"no question":       `{"resultType":"input_required","inputRequests":{}}`,
		"a list":            `{"resultType":"input_required","inputRequests":[],"requestState":"s"}`,
		"unknown method":    `{"resultType":"input_required","inputRequests":{"x":{"method":"x/y"}}}`,
		"no request":        `{"resultType":"input_required","inputRequests":{"x":1}}`,
		"state of an other": `{"resultType":"input_required","requestState":{"a":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
				id := r.calls(deploy, asTask).task().ID
				r.server.next().ends(result)
				r.wantEnd(id, "failed unsupported_result")
				r.server.idle(2 * time.Second)
				r.wantIdle()
			})
		})
	}
}
