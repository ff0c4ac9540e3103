package proxy

import (
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// stalling is a policy whose clocks do not come near each other.
var stalling = Policy{Task: After, After: time.Minute, Stall: 2 * time.Second, MaxRun: 3 * time.Minute, InputTimeout: time.Minute}

// asksOne has the server ask one question in a new task.
func (r *rig) asksOne() (p *play, id string) {
	r.t.Helper()
	c := r.calls(deploy, asTask)
	p = r.server.next()
	p.asks("q1", elicitation)
	id = c.task().ID
	settle()
	return p, id
}

func TestStallRestsWhileAQuestionIsOpen(t *testing.T) {
	for name, c := range map[string]struct {
		// over ends the server's wait after half a minute, and says when.
		over func(r *rig, p *play, id string)
	}{
		"answered": {func(r *rig, _ *play, id string) {
			time.Sleep(30 * time.Second)
			r.update(id, accepts("elicitation-1"))
		}},
		"withdrawn": {func(_ *rig, p *play, _ string) {
			time.Sleep(30 * time.Second)
			p.withdraws("q1")
			settle()
		}},
		"timed out": {func(r *rig, _ *play, id string) {
			time.Sleep(time.Until(r.task(id).CreatedAt.Add(stalling.InputTimeout)))
			settle()
		}},
		"answered in parts": {func(r *rig, p *play, id string) {
			p.asks("q2", sampling)
			time.Sleep(20 * time.Second)
			r.update(id, accepts("elicitation-1"))
			r.wantAsked(id, "sampling-2")
			time.Sleep(20 * time.Second)
			r.update(id, accepts("sampling-2"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, stalling)
				p, id := r.asksOne()
				c.over(r, p, id)
				r.wantAsked(id)
				time.Sleep(stalling.Stall - 100*time.Millisecond)
				r.wantEnd(id, "working")
				time.Sleep(200 * time.Millisecond)
				r.wantEnd(id, "failed stall")
				r.wantIdle()
			})
		})
	}
}

func TestStallRunsBeforeTheFirstQuestion(t *testing.T) {
	policy := stalling
	policy.Task = Always
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, policy)
		id := r.calls(deploy, asTask).task().ID
		p := r.server.next()
		time.Sleep(stalling.Stall - 100*time.Millisecond)
		p.asks("q1", elicitation) // is a sign of life
		time.Sleep(20 * time.Second)
		r.wantAsked(id, "elicitation-1")
		r.update(id, accepts("elicitation-1"))
		time.Sleep(stalling.Stall - 100*time.Millisecond)
		p.asks("q2", elicitation)
		time.Sleep(20 * time.Second)
		r.wantAsked(id, "elicitation-2")
		r.cancel(id)
	})
}

func TestMaxRunDoesNotWaitForAnswers(t *testing.T) {
	policy := stalling
	policy.InputTimeout = never
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, policy)
		_, id := r.asksOne()
		time.Sleep(policy.MaxRun - time.Second)
		r.wantAsked(id, "elicitation-1")
		time.Sleep(time.Second)
		r.wantEnd(id, "failed max_run")
		r.wantAnswers("decline")
		r.wantCancelled(1)
		r.wantIdle()
	})
}

// Between two rounds it is the host that is waited for, too.
func TestStallRestsBetweenRounds(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, stalling)
		c := r.calls(deploy, asTask)
		r.server.next().asksBack(`"s"`, one)
		id := c.task().ID
		time.Sleep(30 * time.Second)
		r.wantAsked(id, "1.x")
		r.update(id, accepts("1.x"))
		r.server.next()
		time.Sleep(stalling.Stall - 100*time.Millisecond)
		r.wantEnd(id, "working")
		time.Sleep(200 * time.Millisecond)
		r.wantEnd(id, "failed stall")
		r.wantIdle()
	})
}
