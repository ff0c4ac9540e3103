package proxy

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// wantParam compares a member of a call's params, byte for byte.
func (p *play) wantParam(key, want string) {
	p.server.t.Helper()
	if got := string(wire.Get(p.message.Params(), key)); got != want {
		p.server.t.Errorf("the call has %s %s, want %s", key, got, want)
	}
}

func TestRoundsCarryTheServersOwnWords(t *testing.T) {
	const params = `{ "name":"deploy","arguments":{"n": 1.0, "big":9007199254740993} }`
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, inTask)
		c := r.calls(params, asTask)
		first := r.server.next()
		first.asksBack(`"a\/b\u00e9  \""`, `{"login":`+elicitation+`,"a\"b":`+sampling+`}`)
		id := c.task().ID
		r.wantAsked(id, "1.login", `1.a"b`)
		r.update(id, `{"1.login":{"action":"accept", "content":{"x":1.0}}}`)
		r.server.idle(3 * time.Second)
		r.update(id, `{"1.a\"b":{"role":"assistant"}}`)
		second := r.server.next()
		second.wantParam("requestState", `"a\/b\u00e9  \""`)
		second.wantParam("arguments", `{"n": 1.0, "big":9007199254740993}`)
		second.wantResponse("login", `{"action":"accept", "content":{"x":1.0}}`)
		second.wantResponse(`a"b`, `{"role":"assistant"}`)
		second.asksBack("", `{"login":`+elicitation+`}`)
		settle()
		r.wantAsked(id, "2.login")
		r.update(id, accepts("1.login", "2.login"))
		third := r.server.next()
		third.wantParam("requestState", "")
		third.wantParam("inputResponses", accepts("login"))
		third.ends(done)
		r.wantEnd(id, "completed")
		r.wantIdle()
	})
}

func TestACallThatOnlyWaitsIsRepeatedAfterASecond(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
		id := r.calls(deploy, asTask).task().ID
		r.server.next().asksBack(`"later"`, "")
		r.server.idle(900 * time.Millisecond)
		r.wantAsked(id)
		p := r.server.next()
		p.wantParam("requestState", `"later"`)
		p.wantParam("inputResponses", "")
		p.ends(done)
		r.wantEnd(id, "completed")
	})
}

func TestACallDoesNotAskWithoutEnd(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
		id := r.calls(deploy, asTask).task().ID
		for round := range maxRounds {
			r.server.next().asksBack(`"s"`, one)
			settle()
			key := fmt.Sprintf("%d.x", round+1)
			r.wantAsked(id, key)
			r.update(id, accepts(key))
		}
		r.server.next().asksBack(`"s"`, one)
		r.wantEnd(id, "failed too_many_questions")
		r.server.idle(3 * time.Second)
		r.wantIdle()
	})
}

// Only to be called again is no question: it goes on for as long as the task may,
// ever more slowly.
func TestACallThatIsPutOffWithoutEndEndsWithItsTask(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always, MaxRun: time.Hour})
		id := r.calls(deploy, asTask).task().ID
		began := time.Now()
		for range 2 * maxRounds { // after 0, 1, 3, 7, 15, 31, and then each 30 s
			if r.server.next().asksBack(`"s"`, ""); time.Since(began) > 59*time.Minute+30*time.Second {
				break
			}
		}
		r.server.idle(time.Minute)
		r.wantEnd(id, "failed max_run")
		r.wantIdle()
	})
}

func TestNothingIsSentForATaskThatWasCancelledBetweenRounds(t *testing.T) {
	for name, c := range map[string]struct {
		questions string
		then      func(r *rig, id string)
	}{
		"asked":                      {one, (*rig).cancel},
		"answered afterwards":        {one, func(r *rig, id string) { r.cancel(id); r.update(id, accepts("1.x")) }},
		"waiting":                    {"", (*rig).cancel},
		"max_run":                    {one, func(*rig, string) { time.Sleep(5 * time.Second) }},
		"proxy closed":               {one, func(r *rig, _ string) { r.closes() }},
		"proxy closed while waiting": {"", func(r *rig, _ string) { r.closes() }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Stateless, Policy{Task: Always, MaxRun: 5 * time.Second})
				id := r.calls(deploy, asTask).task().ID
				r.server.next().asksBack(`"s"`, c.questions)
				settle()
				c.then(r, id)
				r.server.idle(6 * time.Second)
				if !r.task(id).Status.Terminal() {
					t.Errorf("the task is %s", r.task(id).Status)
				}
				r.wantIdle()
			})
		})
	}
}

// What ends the task at the instant of the answer either comes first, and
// nothing more is sent, or ends the repeated call, too.
func TestAnAnswerAndAnEndAtTheSameInstant(t *testing.T) {
	for name, c := range map[string]struct {
		policy Policy
		ends   func(r *rig, id string)
		want   string
	}{
		"cancel":        {Policy{}, (*rig).cancel, "cancelled"},
		"max_run":       {Policy{MaxRun: time.Second}, func(*rig, string) {}, "failed max_run"},
		"Close":         {Policy{}, func(r *rig, _ string) { r.closes() }, "failed shutdown"},
		"input_timeout": {Policy{InputTimeout: time.Second}, func(*rig, string) {}, "working"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				c.policy.Task = After
				for range 20 {
					r := newRig(t, store, upstream.Stateless, c.policy)
					call := r.calls(deploy, asTask)
					r.server.next().asksBack(`"s"`, one)
					id := call.task().ID
					var both sync.WaitGroup
					both.Go(func() { time.Sleep(time.Second); r.update(id, accepts("1.x")) })
					both.Go(func() { time.Sleep(time.Second); c.ends(r, id) })
					within(t, "one of the two", both.Wait)
					r.wantEnd(id, c.want)
					r.checkRepeats(c.want == "working")
					r.closes()
				}
			})
		})
	}
}

// checkRepeats looks at what was sent after the first round.
func (r *rig) checkRepeats(goesOn bool) {
	r.t.Helper()
	sent := len(r.plays)
	if sent > 1 || goesOn && sent == 0 {
		r.t.Errorf("the call was repeated %d times", sent)
	}
	for range sent {
		if p := r.server.next(); p.gone() == goesOn {
			r.t.Errorf("the repeated call is waited for: %v", goesOn)
		}
	}
}
