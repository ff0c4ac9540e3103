package proxy

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

func (r *rig) drains() {
	within(r.t, "Drain", func() { r.proxy.Drain(context.Background()) })
}

func TestOfTwoRetriesOneWins(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		for range 50 {
			p, _, state := r.held()
			var both sync.WaitGroup
			came := make(chan wire.Message, 2)
			for range 2 {
				both.Go(func() { came <- r.retries(state).next().message })
			}
			settle()
			p.ends(done)
			within(t, "a retry", both.Wait)
			won := 0
			for range 2 {
				m := <-came
				if m.Result() != nil {
					won++
				} else if reason, _ := wire.String(wire.Lookup(m.Err(), "data", "reason")); reason != "request_state" {
					t.Errorf("a retry got %s", m.Raw())
				}
			}
			if won != 1 {
				t.Fatalf("%d of 2 retries won", won)
			}
		}
		r.wantAnswers(slices.Repeat([]string{"accept"}, 50)...)
		r.wantIdle()
	})
}

func TestDrainAndCloseFreeWhatIsHeld(t *testing.T) {
	for name, ends := range map[string]func(*rig){"Drain": (*rig).drains, "Close": (*rig).closes} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{})
				p, _, state := r.held()
				began := time.Now()
				ends(r)
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it took %v", took)
				}
				if !p.gone() {
					t.Error("the call is still waited for")
				}
				got := r.retries(state).next().message
				if reason, _ := wire.String(wire.Lookup(got.Err(), "data", "reason")); reason != "request_state" && reason != "shutdown" {
					t.Errorf("a late retry got %s", got.Raw())
				}
				r.wantIdle()
			})
		})
	}
}

// Nobody is there any more whom a server could ask that does so only now.
func TestDrainDoesNotWaitForHoldsThatBeginAfterIt(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		c := r.calls(deploy, nil)
		p := r.server.next()
		began := time.Now()
		go func() { time.Sleep(time.Second); p.asks("q1", elicitation) }()
		r.drains()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		c.next()
		r.wantIdle()
	})
}

// checkRetry checks that a retry was answered once, and the server as often.
func (r *rig) checkRetry(retry *call, p *play) {
	r.t.Helper()
	settle()
	time.Sleep(time.Second)
	p.ends(done)
	settle()
	if n := len(retry.came); n != 1 {
		r.t.Fatalf("the retry got %d answers", n)
	}
	if n := len(r.got()); n > 1 {
		r.t.Errorf("the server got %d answers", n)
	}
}

func TestARetryThatMeetsTheEndIsAnswered(t *testing.T) {
	for name, ends := range map[string]func(*rig){
		"Drain": (*rig).drains, "Close": (*rig).closes, "death": func(r *rig) { r.dies() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				for range 100 {
					r := newRig(t, store, upstream.Initialize, Policy{})
					p, _, state := r.held()
					var both sync.WaitGroup
					var retry *call
					both.Go(func() { retry = r.retries(state) })
					both.Go(func() { ends(r) })
					if name == "Drain" { // waits for the call
						time.AfterFunc(time.Second, func() { p.ends(done) })
					}
					within(t, name, both.Wait)
					r.checkRetry(retry, p)
					r.closes()
				}
			})
		})
	}
}

// The run is busy here while something else and the retry come, in this order.
func TestARetryThatIsQueuedBehindSomethingElseIsAnswered(t *testing.T) {
	for name, lapses := range map[string]func(*rig, *run){
		"limit":    func(_ *rig, r *run) { h := r.hold; r.post(func() { r.lapse(h.id, "the limit") }) },
		"Drain":    func(r *rig, _ *run) { go r.drains(); settle() },
		"answer":   func(r *rig, run *run) { run.answer(wire.Result(noID, []byte(done)), nil) },
		"question": func(_ *rig, r *run) { r.ask(wire.Request(0, "roots/list", nil), func(wire.Message) {}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{})
				p, _, state := r.held()
				run := r.heldRun()
				goOn := busy(run)
				settle()
				lapses(r, run)
				retry := r.retries(state)
				goOn()
				r.checkRetry(retry, p)
				time.Sleep(holdLimit) // where it was asked once more
				r.wantIdle()
			})
		})
	}
}

// The answer and the host come at the same time, while the run is busy.
func TestARetryGetsTheAnswerThatCameJustBeforeIt(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		p, _, state := r.held()
		goOn := busy(r.heldRun())
		p.ends(done)
		settle()
		retry := r.retries(state)
		goOn()
		if got := string(retry.result()); got != done {
			t.Errorf("the retry got %s", got)
		}
		r.wantIdle()
	})
}

func TestACancelAndAnAnswerAtTheSameInstantMakeOneEnd(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		for i := range 50 {
			p, _, state := r.held()
			retry := r.retries(state)
			settle()
			var both sync.WaitGroup
			both.Go(func() { retry.cancel(notice) })
			both.Go(func() { p.ends(done) })
			both.Wait()
			settle()
			if n := len(retry.came); n > 1 {
				t.Fatalf("the retry got %d answers", n)
			}
			if n := len(r.got()); n != i+1 {
				t.Errorf("the server got %d answers to %d questions", n, i+1)
			}
		}
		r.wantIdle()
	})
}
