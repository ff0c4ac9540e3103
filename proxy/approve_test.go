package proxy

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

var confirmed = Policy{Task: After, After: time.Minute, Approve: ApproveAlways}

func TestWhatNobodyConfirmsIsNotSent(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(r *rig, id string)
		want    string // how the task ends
	}{
		"declined":  {func(r *rig, id string) { r.update(id, `{"approval-1":{"action":"decline"}}`) }, "completed"},
		"dismissed": {func(r *rig, id string) { r.update(id, `{"approval-1":{"action":"cancel"}}`) }, "completed"},
		"senseless": {func(r *rig, id string) { r.update(id, `{"approval-1":{}}`) }, "completed"},
		"timed out": {func(*rig, string) { time.Sleep(10 * time.Second) }, "completed"},
		"cancelled": {(*rig).cancel, "cancelled"},
		"declined, then accepted": {func(r *rig, id string) {
			r.update(id, `{"approval-1":{"action":"decline"}}`)
			r.update(id, accepts("approval-1"))
		}, "completed"},
		"too late": {func(r *rig, id string) { time.Sleep(10 * time.Second); settle(); r.update(id, accepts("approval-1")) }, "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				policy := confirmed
				policy.InputTimeout = 10 * time.Second
				r := newRig(t, store, upstream.Initialize, policy)
				id := r.calls(deploy, asTask).task().ID
				r.wantAsked(id, "approval-1")
				c.happens(r, id)
				r.wantEnd(id, c.want)
				if c.want == "completed" {
					wantUnapproved(t, r.task(id).Outcome)
				}
				r.server.idle(20 * time.Second)
				r.wantIdle()
			})
		})
	}
}

// wantUnapproved checks for a result that tells a model that nothing was done.
func wantUnapproved(t *testing.T, result []byte) {
	t.Helper()
	text := string(result)
	if string(wire.Get(result, "isError")) != "true" || !strings.Contains(text, "was not sent") || !strings.Contains(text, "nothing was done") {
		t.Errorf("the host got %s", text)
	}
}

func TestMaxRunEndsTheWaitForApproval(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		policy := confirmed
		policy.MaxRun = 10 * time.Second
		r := newRig(t, store, upstream.Initialize, policy)
		id := r.calls(deploy, asTask).task().ID
		time.Sleep(10 * time.Second)
		r.wantEnd(id, "failed max_run")
		if outcome, _ := wire.String(wire.Lookup(r.task(id).Outcome, "data", "outcome")); outcome != "not_dispatched" {
			t.Errorf("the outcome is %s", outcome)
		}
		r.update(id, accepts("approval-1"))
		r.server.idle(10 * time.Second)
		r.wantIdle()
	})
}

func TestAnApprovalSendsTheCallOnce(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		for range 20 {
			r := newRig(t, store, upstream.Initialize, confirmed)
			id := r.calls(deploy, asTask).task().ID
			var updates sync.WaitGroup
			for range 3 {
				updates.Go(func() { r.update(id, accepts("approval-1")) })
			}
			updates.Wait()
			r.wantAsked(id)
			p := r.server.next()
			p.wantParam("arguments", `{"n":1}`)
			r.update(id, accepts("approval-1"))
			r.server.idle(time.Second)
			p.ends(done)
			r.wantEnd(id, "completed")
			r.wantIdle()
			r.closes()
		}
	})
}

// An approval that meets an end either comes first, or nothing is sent.
func TestAnApprovalAndAnEndAtTheSameInstant(t *testing.T) {
	for name, c := range map[string]struct {
		policy Policy
		ends   func(r *rig, id string)
		want   []string
	}{
		"cancel":        {Policy{}, (*rig).cancel, []string{"cancelled"}},
		"max_run":       {Policy{MaxRun: time.Second}, func(*rig, string) {}, []string{"failed max_run"}},
		"input_timeout": {Policy{InputTimeout: time.Second}, func(*rig, string) {}, []string{"completed", "working"}},
		"decline":       {Policy{}, func(r *rig, id string) { r.update(id, `{"approval-1":{"action":"decline"}}`) }, []string{"completed", "working"}},
		"Close":         {Policy{}, func(r *rig, _ string) { r.closes() }, []string{"working", "input_required", "failed shutdown"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				c.policy.Task, c.policy.Approve = Always, ApproveAlways
				for range 20 {
					r := newRig(t, store, upstream.Initialize, c.policy)
					id := r.calls(deploy, asTask).task().ID
					var both sync.WaitGroup
					both.Go(func() { time.Sleep(time.Second); r.update(id, accepts("approval-1")) })
					both.Go(func() { time.Sleep(time.Second); c.ends(r, id) })
					within(t, "one of the two", both.Wait)
					settle()
					r.checkApproved(id, c.want)
					r.closes()
					r.abandons(id)
				}
			})
		})
	}
}

// checkApproved checks that a call was sent, and only then, that is still
// waited for.
func (r *rig) checkApproved(id string, want []string) {
	r.t.Helper()
	task := r.task(id)
	if !strings.Contains(strings.Join(want, ", "), end(task)) {
		r.t.Errorf("the task is %s", end(task))
	}
	sent := len(r.plays)
	if sent > 1 || sent == 1 && !task.Dispatched {
		r.t.Errorf("the call was sent %d times, the task is %s (dispatched: %v)", sent, task.Status, task.Dispatched)
	}
	for range sent {
		if p := r.server.next(); p.gone() == (task.Status == taskstate.Working) {
			r.t.Errorf("the call is open for the server: %v, and the task %s", !p.gone(), task.Status)
		}
	}
}

// abandons ends what a closed proxy has left in the store.
func (r *rig) abandons(id string) {
	_, _ = r.store.Finish(r.t.Context(), id, taskstate.Outcome{Status: taskstate.Cancelled})
}
