package proxy

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// curious asks questions of a run, as the goroutine does that reads from the
// server, and counts the answers.
type curious struct {
	asked, answered atomic.Int64
}

func (a *curious) asks(r *run) {
	for range 100 {
		a.asked.Add(1)
		r.ask(wire.Request(0, "roots/list", nil), func(wire.Message) { a.answered.Add(1) })
		runtime.Gosched()
	}
}

// check: who takes a question has to answer it once (upstream.Request).
func (a *curious) check(t *testing.T) {
	t.Helper()
	settle()
	if asked, answered := a.asked.Load(), a.answered.Load(); asked != answered {
		t.Errorf("%d of %d questions are answered", answered, asked)
	}
}

func TestQuestionsThatComeAsATaskEndsAreAnswered(t *testing.T) {
	for name, ends := range map[string]func(r *rig, p *play, id string){
		"cancel":  func(r *rig, _ *play, id string) { r.cancel(id) },
		"max_run": func(*rig, *play, string) {},
		"end":     func(_ *rig, p *play, _ string) { p.ends(done) },
		"death":   func(r *rig, _ *play, _ string) { r.dies() },
		"Close":   func(r *rig, _ *play, _ string) { r.closes() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				for range 10 {
					r := newRig(t, store, upstream.Initialize, Policy{Task: Always, MaxRun: time.Second})
					id := r.calls(deploy, asTask).task().ID
					p := r.server.next()
					settle()
					run, a := r.proxy.opts.Tasks.runOf(id), curious{}
					var both sync.WaitGroup
					both.Go(func() { time.Sleep(time.Until(r.task(id).CreatedAt.Add(time.Second))); a.asks(run) })
					both.Go(func() { time.Sleep(time.Until(r.task(id).CreatedAt.Add(time.Second))); ends(r, p, id) })
					within(t, name, both.Wait)
					r.closes()
					if a.check(t); t.Failed() {
						return
					}
				}
			})
		})
	}
}

func TestQuestionsThatComeAsAHeldCallEndsAreAnswered(t *testing.T) {
	for name, ends := range map[string]func(r *rig, p *play, state string){
		"lapse":        func(*rig, *play, string) {},
		"Drain":        func(r *rig, _ *play, _ string) { r.drains() },
		"Close":        func(r *rig, _ *play, _ string) { r.closes() },
		"host's end":   func(r *rig, _ *play, state string) { r.retries(state).cancel(notice) },
		"server's end": func(r *rig, p *play, state string) { p.ends(done); r.retries(state).next() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				for range 10 {
					r := newRig(t, store, upstream.Initialize, Policy{InputTimeout: time.Minute})
					p, _, state := r.held()
					run, a := r.heldRun(), curious{}
					var both sync.WaitGroup
					pause := 10 * time.Second
					if name == "lapse" {
						pause = time.Minute
					}
					both.Go(func() { time.Sleep(pause); a.asks(run) })
					both.Go(func() { time.Sleep(pause); ends(r, p, state) })
					within(t, name, both.Wait)
					r.closes()
					if a.check(t); t.Failed() {
						return
					}
				}
			})
		})
	}
}

// What was refused in a burst is not held against the server later.
func TestABurstOfQuestionsLeavesRoomForLaterOnes(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{Task: Always})
		id := r.calls(deploy, asTask).task().ID
		p := r.server.next()
		settle()
		run, a := r.proxy.opts.Tasks.runOf(id), curious{}
		for range 3 {
			goOn := busy(run)
			a.asks(run)
			a.asks(run)
			goOn()
			settle()
			keys := r.task(id).Inputs
			wire.Each(keys, func(key string, _ []byte) { keys = wire.Set(keys, key, []byte("{}")) })
			r.update(id, string(keys))
			a.check(t)
		}
		p.asks("q", elicitation)
		settle()
		if key := r.askedKey(id); !strings.HasPrefix(key, "elicitation-") {
			t.Errorf("%s is asked", key)
		}
		r.cancel(id)
	})
}

func TestAServerThatDoesNotWaitForTheAnswerGetsOne(t *testing.T) {
	t.Run("task", func(t *testing.T) {
		bubble(t, func(t *testing.T, store *disk) {
			r := newRig(t, store, upstream.Initialize, inTask)
			p, id := r.asksOne()
			p.ends(done)
			r.wantEnd(id, "completed")
			r.wantAnswers("decline")
		})
	})
	t.Run("held call", func(t *testing.T) {
		bubble(t, func(t *testing.T, store *disk) {
			r := newRig(t, store, upstream.Initialize, Policy{})
			p, _, _ := r.held()
			p.ends(done)
			r.wantAnswers("decline")
		})
	})
}

// There is nobody to ask any more: the end is what the host hears of.
func TestTheEndOfTheProxyIsWhatAnUnconfirmedCallIsToldOf(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		for range 30 {
			r := newRig(t, store, upstream.Initialize, Policy{Approve: ApproveDestructive})
			tools, comes := hangingList()
			r.tools = tools
			c := r.calls(deploy, nil)
			settle()
			r.closes()
			comes()
			err := c.wantRefused("shutdown")
			if outcome, _ := wire.String(wire.Lookup(err, "data", "outcome")); outcome != "not_dispatched" {
				t.Errorf("the host got %s", err)
			}
			if c.wantNone(); t.Failed() {
				return
			}
		}
	})
}
