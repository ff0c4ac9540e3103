package proxy

import (
	"context"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

func (r *rig) limited(l Limits) *rig {
	r.proxy.opts.Limits = l
	return r
}

func of(owner string) func(*Request) {
	return func(r *Request) { r.Tasks, r.Owner = true, owner }
}

func (p *play) named() string {
	name, _ := wire.String(wire.Get(p.message.Params(), "name"))
	return name
}

func TestATaskBeyondTheLimitWaitsForItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always}).limited(Limits{Running: 1, Queued: 1})
		first := r.calls(deploy, asTask).task()
		running := r.next()
		second := r.calls(deploy, asTask).task()
		r.idle(time.Minute)
		if third := r.calls(deploy, asTask); string(wire.Lookup(third.wantRefused("limit"), "data", "limit")) != `"queued: 1"` {
			t.Error("the error does not name the limit")
		}
		running.ends(`{"content":[]}`)
		r.next().ends(`{"content":[]}`)
		r.wantEnd(first.ID, "completed")
		r.wantEnd(second.ID, "completed")
	})
}

func TestAQueuedTaskThatIsCancelledIsNeverSent(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always}).limited(Limits{Running: 1, Queued: 10})
		r.calls(deploy, asTask).task()
		running := r.next()
		queued, last := r.calls(deploy, asTask).task(), r.calls(`{"name":"last"}`, asTask).task()
		r.cancel(queued.ID)
		running.ends(`{"content":[]}`)
		if p := r.next(); p.named() != "last" {
			t.Errorf("%s was sent", p.named())
		} else {
			p.ends(`{"content":[]}`)
		}
		r.wantEnd(last.ID, "completed")
		r.wantEnd(queued.ID, "cancelled")
		r.idle(time.Minute)
	})
}

func TestMaxRunDoesNotCountTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always, MaxRun: time.Hour}).limited(Limits{Running: 1, Queued: 10})
		first, second := r.calls(deploy, asTask).task(), r.calls(deploy, asTask).task()
		r.next()
		time.Sleep(90 * time.Minute)
		r.wantEnd(first.ID, "failed max_run")
		p := r.next()
		time.Sleep(20 * time.Minute)
		p.ends(`{"content":[]}`)
		r.wantEnd(second.ID, "completed")
	})
}

func TestWhoHasLeastRunningIsNext(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always}).limited(Limits{Running: 2, RunningPerOwner: 2, Queued: 10})
		for _, name := range []string{"a1", "a2", "a3", "a4"} {
			r.calls(`{"name":"`+name+`"}`, of("a")).task()
		}
		first, second := r.next(), r.next()
		r.calls(`{"name":"b1"}`, of("b")).task()
		first.ends(`{"content":[]}`)
		if p := r.next(); p.named() != "b1" {
			t.Errorf("%s came before b1", p.named())
		}
		second.ends(`{"content":[]}`)
		if p := r.next(); p.named() != "a3" {
			t.Errorf("%s came before a3", p.named())
		}
		r.idle(time.Minute)
	})
}

func TestOneOwnerDoesNotTakeAllPlaces(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always}).limited(Limits{Running: 2, RunningPerOwner: 1, Reject: true})
		r.calls(deploy, of("a")).task()
		if e := r.calls(deploy, of("a")).wantRefused("limit"); string(wire.Lookup(e, "data", "limit")) != `"running_per_owner: 1"` {
			t.Errorf("%s", e)
		}
		r.calls(deploy, of("b")).task()
		if e := r.calls(deploy, of("c")).wantRefused("limit"); string(wire.Lookup(e, "data", "limit")) != `"running: 2"` {
			t.Errorf("%s", e)
		}
	})
}

func TestCallsOfAToolWaitForEachOther(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: After, After: time.Second, Concurrency: 1})
		first, second := r.calls(deploy, nil), r.calls(deploy, asTask)
		running := r.next()
		r.idle(500 * time.Millisecond)
		queued := second.task() // it has waited longer than the threshold
		running.ends(`{"content":[]}`)
		first.result()
		r.next().ends(`{"content":[]}`)
		r.wantEnd(queued.ID, "completed")
		r.calls(deploy, nil)
		r.next().ends(`{"content":[]}`)
		r.wantIdle()
	})
}

func TestAHostThatCancelsInTheQueueLeavesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Never, Concurrency: 1})
		r.calls(deploy, nil)
		running := r.next()
		queued := r.calls(`{"name":"deploy"}`, nil)
		queued.cancel(wire.Notification("notifications/cancelled", nil))
		running.ends(`{"content":[]}`)
		r.idle(time.Minute)
		r.wantCancelled(0)
		r.wantIdle()
	})
}

func TestASlowCallThatFindsNoPlaceIsWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: After, After: time.Second}).limited(Limits{Running: 1, Queued: 1})
		slow := r.calls(deploy, asTask)
		first := r.next()
		slow.task()
		waits := r.calls(deploy, asTask)
		second := r.next()
		time.Sleep(time.Millisecond)
		refused := r.calls(deploy, asTask)
		third := r.next()
		waits.wantNone()
		time.Sleep(time.Minute)
		first.ends(`{"content":[]}`)
		id := waits.task().ID
		third.ends(`{"content":[]}`)
		refused.result()
		second.ends(`{"content":[]}`)
		r.wantEnd(id, "completed")
	})
}

func TestWhatWaitedRunsAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		policy := Policy{Task: Always}
		r := newRig(t, store, upstream.Stateless, policy).limited(Limits{Running: 1, Queued: 10})
		r.calls(deploy, asTask).task()
		r.next()
		var waited []taskstate.Task
		for range 3 {
			waited = append(waited, r.calls(deploy, asTask).task())
		}
		r.closes()
		store.closes(t)
		store.opens(t)
		r.starts(policy)
		r.limited(Limits{Running: 1, Queued: 1, Reject: true}) // they were let in
		r.proxy.Recover(func(string, upstream.Caller) *upstream.Client { return r.client })
		for range 3 {
			r.next().ends(`{"content":[]}`)
		}
		for _, task := range waited {
			r.wantEnd(task.ID, "completed")
		}
		r.proxy.Close(context.Background())
	})
}

func TestManyCallsOfAToolAtOnceLeaveNoPlaceTaken(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: After, After: time.Second, Concurrency: 2})
		for n := range 60 {
			c := r.calls(deploy, func(req *Request) { req.Tasks = n%3 == 0 })
			if n%4 == 1 {
				go c.cancel(wire.Notification("notifications/cancelled", nil))
			}
		}
		time.Sleep(5 * time.Second) // some are tasks now, and some wait
		s := r.proxy.opts.Tasks.slots
		for busy := true; busy; {
			select {
			case p := <-r.plays:
				p.ends(`{"content":[]}`)
			case <-time.After(time.Minute):
				busy = false
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running != 0 || len(s.byOwner) != 0 || len(s.byTool) != 0 || len(s.waiting) != 0 {
			t.Errorf("%d tasks run, %v are at work, %d calls wait", s.running, s.byTool, len(s.waiting))
		}
	})
}

func TestAWaitForATurnGoesOnOverARestart(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		policy := Policy{Task: Always, Concurrency: 1}
		r := newRig(t, store, upstream.Stateless, policy)
		r.calls(deploy, asTask).task()
		r.next()
		for range 3 {
			r.calls(deploy, asTask).task()
		}
		r.restarts(policy)
		for range 3 {
			p := r.next()
			r.idle(time.Minute)
			p.ends(`{"content":[]}`)
		}
		r.idle(time.Minute)
	})
}

func TestAQuestionTakesAPlaceThatIsGivenBack(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{Task: After, After: time.Hour, Concurrency: 1}).limited(Limits{Running: 1, Queued: 1})
		for range 3 {
			c := r.calls(deploy, asTask)
			p := r.next()
			p.asks("q", elicitation)
			id := c.task().ID
			r.update(id, accepts("elicitation-1"))
			p.ends(`{"content":[]}`)
			r.wantEnd(id, "completed")
		}
		r.wantIdle()
	})
}

func TestProgressAtTheEndOfAllNumbersHarmsNobody(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Never, KeepAlive: time.Second})
		var got []string
		c := r.calls(deploy, progresses(&got))
		p := r.next()
		for _, progress := range []string{"1e303", "1.7976931348623157e308", "-1e308", "1"} {
			p.progresses(`{"progress":` + progress + `}`)
			time.Sleep(3 * time.Second)
		}
		p.ends(`{"content":[]}`)
		c.result()
	})
}
