package proxy

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// patient is how long calls of these tests are waited for.
const patient = 5 * time.Second

// wantTaskAfter checks that the call becomes a task after d, and not before.
func (c *call) wantTaskAfter(d time.Duration) string {
	c.t.Helper()
	time.Sleep(d - 20*time.Millisecond)
	c.wantNone()
	time.Sleep(20 * time.Millisecond)
	settle()
	select {
	case got := <-c.came:
		if got.task.ID == "" {
			c.t.Fatalf("the host got %s", got.message.Raw())
		}
		return got.task.ID
	default:
		c.t.Fatalf("the call is no task after %v", d)
		return ""
	}
}

func TestQuestionsBeforeTheTaskAreAskedByTheCall(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		then time.Duration // from the last answer to the task
	}{
		{After, patient}, {Always, nextQuestion}, {Required, nextQuestion},
	} {
		t.Run(fmt.Sprint(c.mode), func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{Task: c.mode, After: patient, Input: BeforeTask})
				call := r.calls(deploy, asTask)
				p := r.server.next()
				time.Sleep(patient - time.Second)
				p.asks("q1", elicitation)
				_, state := call.asked()
				time.Sleep(10 * patient) // the host takes its time
				call = r.calls(again(deploy, state, accepts("elicitation-1")), asTask)
				time.Sleep(c.then - 50*time.Millisecond)
				p.asks("q2", sampling)
				_, state = call.asked()
				call = r.calls(again(deploy, state, accepts("sampling-2")), asTask)
				id := call.wantTaskAfter(c.then)
				p.asks("q3", roots)
				settle()
				r.wantAsked(id, "roots-3")
				r.update(id, accepts("roots-3"))
				r.wantAnswers("accept", "accept", "accept")
				p.ends(done)
				r.wantEnd(id, "completed")
				r.wantIdle()
			})
		})
	}
}

func TestACallThatIsAskedNothingBecomesATaskInTime(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		after  time.Duration
	}{
		{Policy{Task: After, Input: BeforeTask}, patient},
		{Policy{Task: Always, Input: BeforeTask}, patient},
		{Policy{Task: Required, Input: BeforeTask}, patient},
		{Policy{Task: After}, patient},
		{Policy{Task: After, Input: InTask}, patient},
	} {
		t.Run(fmt.Sprint(c.policy.Task, " ", c.policy.Input), func(t *testing.T) {
			for _, era := range []upstream.Era{upstream.Initialize, upstream.Stateless} {
				bubble(t, func(t *testing.T, store *disk) {
					c.policy.After = patient
					r := newRig(t, store, era, c.policy)
					call := r.calls(deploy, asTask)
					p := r.server.next()
					id := call.wantTaskAfter(c.after)
					p.ends(done)
					r.wantEnd(id, "completed")
				})
			}
		})
	}
}

func TestAQuestionInTheTaskMakesTheCallOneAtOnce(t *testing.T) {
	for _, mode := range []Mode{After, Always, Required} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{Task: mode, After: patient, Input: InTask})
				call := r.calls(deploy, asTask)
				p := r.server.next()
				if mode == After {
					time.Sleep(time.Second)
					call.wantNone()
				}
				p.asks("q1", elicitation)
				settle()
				id := call.task().ID
				r.wantAsked(id, "elicitation-1")
				r.update(id, accepts("elicitation-1"))
				p.ends(done)
				r.wantEnd(id, "completed")
				call.wantNone()
				r.wantIdle()
			})
		})
	}
}

// Never is for the call, whatever the host declares.
func TestACallThatNeverIsATaskAsksByItself(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{Task: Never, After: patient})
		call := r.calls(deploy, asTask)
		p := r.server.next()
		time.Sleep(2 * patient)
		p.asks("q1", elicitation)
		_, state := call.asked()
		call = r.calls(again(deploy, state, accepts("elicitation-1")), asTask)
		time.Sleep(2 * patient)
		call.wantNone()
		p.ends(done)
		call.result()
		r.wantIdle()
	})
}

// The server's own questions pass as they are, and come back as such.
func TestRoundsBeforeTheTaskPassAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		then time.Duration
	}{
		{After, patient}, {Always, nextQuestion}, {Required, nextQuestion},
	} {
		t.Run(fmt.Sprint(c.mode), func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Stateless, Policy{Task: c.mode, After: patient, Input: BeforeTask})
				call := r.calls(deploy, asTask)
				r.server.next().asksBack(`"s1"`, one)
				requests, state := call.asked()
				wantKeys(t, requests, "x")
				if state != "s1" {
					t.Errorf("the state is %s", state)
				}
				time.Sleep(10 * patient)
				call = r.calls(again(deploy, state, accepts("x")), asTask)
				p := r.server.next()
				p.wantParam("requestState", `"s1"`)
				p.wantParam("inputResponses", accepts("x"))
				id := call.wantTaskAfter(c.then)
				p.asksBack(`"s2"`, one)
				settle()
				r.wantAsked(id, "1.x")
				r.update(id, accepts("1.x"))
				p = r.server.next()
				p.wantParam("requestState", `"s2"`)
				p.ends(done)
				r.wantEnd(id, "completed")
				r.wantIdle()
			})
		})
	}
}
