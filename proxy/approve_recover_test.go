package proxy

import (
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// restarts closes the proxy and its store, and has another process' proxy take
// over the tasks.
func (r *rig) restarts(policy Policy) {
	r.t.Helper()
	r.closes()
	r.store.closes(r.t)
	r.store.opens(r.t)
	r.starts(policy)
	r.proxy.Recover(func(string, upstream.Caller) *upstream.Client { return r.client })
	settle()
}

// askedKey is the key of a task's only question.
func (r *rig) askedKey(id string) (key string) {
	r.t.Helper()
	task, n := r.task(id), 0
	wire.Each(task.Inputs, func(k string, _ []byte) { key, n = k, n+1 })
	if n != 1 || task.Status != taskstate.InputRequired {
		r.t.Fatalf("the task is %s and asks %s", task.Status, task.Inputs)
	}
	return key
}

func TestAnApprovalIsAskedForAnewAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, confirmed)
		id := r.calls(deploy, asTask).task().ID
		keys := map[string]bool{"approval-1": true}
		for range 3 {
			r.restarts(confirmed)
			key := r.askedKey(id)
			for old := range keys {
				r.update(id, accepts(old))
			}
			if keys[key] || r.askedKey(id) != key {
				t.Fatalf("%s was a key before: %v", key, keys)
			}
			keys[key] = true
		}
		r.server.idle(time.Second)
		r.update(id, accepts(r.askedKey(id)))
		p := r.server.next()
		p.wantParam("arguments", `{"n":1}`)
		p.ends(done)
		r.wantEnd(id, "completed")
		r.wantIdle()
	})
}

func TestADeclineAfterARestartSendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, confirmed)
		id := r.calls(deploy, asTask).task().ID
		r.restarts(Policy{}) // what the call was promised counts, not the new policy
		r.update(id, `{"`+r.askedKey(id)+`":{"action":"decline"}}`)
		r.wantEnd(id, "completed")
		wantUnapproved(t, r.task(id).Outcome)
		r.server.idle(time.Second)
		r.wantIdle()
	})
}

// A tool may have become harmless, and a server may take long to say so.
func TestATaskThatAsksNothingAfterARestartIsNotInputRequired(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		policy := Policy{Task: Always, Approve: ApproveDestructive}
		r := newRig(t, store, upstream.Initialize, policy)
		id := r.calls(deploy, asTask).task().ID
		settle()
		r.wantAsked(id, "approval-1")
		r.tools = func(string) string { return `{"tools":[{"name":"deploy","annotations":{"destructiveHint":false}}]}` }
		r.restarts(policy)
		p := r.server.next()
		settle()
		r.wantAsked(id)
		p.ends(done)
		r.wantEnd(id, "completed")
	})
}

func TestATaskThatWasConfirmedIsNotSentTwice(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, confirmed)
		id := r.calls(deploy, asTask).task().ID
		r.update(id, accepts("approval-1"))
		r.server.next()
		r.restarts(confirmed)
		r.wantEnd(id, "failed shutdown")
		r.server.idle(time.Second)
	})
}
