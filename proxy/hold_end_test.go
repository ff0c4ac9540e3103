package proxy

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

func TestAHoldLapses(t *testing.T) {
	for _, c := range []struct{ timeout, limit time.Duration }{
		{time.Minute, time.Minute},
		{1500 * time.Millisecond, 1500 * time.Millisecond},
		{0, 15 * time.Minute},
		{time.Hour, 15 * time.Minute},
	} {
		t.Run(fmt.Sprint(c.timeout), func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{InputTimeout: c.timeout})
				p, _, state := r.held()
				time.Sleep(c.limit - 10*time.Millisecond)
				r.wantAnswers()
				time.Sleep(10 * time.Millisecond)
				r.wantAnswers("decline")
				r.wantCancelled(1)
				if !p.gone() {
					t.Error("the call is still waited for")
				}
				r.retries(state).wantRefused("request_state")
				r.wantIdle()
			})
		})
	}
}

// The state says in whole seconds how long it lasts.
func TestARetryJustBeforeTheLapseIsTaken(t *testing.T) {
	for _, limit := range []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, time.Minute} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{InputTimeout: limit})
				p, _, state := r.held()
				time.Sleep(limit - 50*time.Millisecond)
				retry := r.retries(state)
				time.Sleep(limit)
				r.wantAnswers("accept")
				p.ends(done)
				retry.result()
			})
		})
	}
}

func TestAnAnswerThatNobodyComesBackForIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{InputTimeout: time.Minute})
		p, _, state := r.held()
		p.ends(done)
		time.Sleep(time.Minute)
		r.retries(state).wantRefused("request_state")
		r.wantCancelled(0) // there is nothing to cancel any more
		r.wantIdle()
	})
}

func TestACancelledRetryEndsTheCall(t *testing.T) {
	for name, cancelled := range map[string]func(*rig, *play, *call){
		"at once": func(_ *rig, _ *play, c *call) { c.cancel(notice) },
		"while it waits": func(r *rig, _ *play, c *call) {
			r.wantAnswers("accept")
			c.cancel(notice)
		},
		"twice": func(_ *rig, _ *play, c *call) { c.cancel(notice); c.cancel(notice) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{})
				p, _, state := r.held()
				retry := r.retries(state)
				cancelled(r, p, retry)
				r.wantCancelled(1)
				r.wantAnswers("accept")
				retry.wantNone()
				if !p.gone() {
					t.Error("the call is still waited for")
				}
				r.wantIdle()
			})
		})
	}
}

// The question may have been on its way when the host gave up.
func TestACancelThatCrossesTheQuestionEndsTheCall(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		c := r.calls(deploy, func(req *Request) { req.Reply = func(wire.Message) bool { return false } })
		p := r.server.next()
		p.asks("q1", elicitation)
		c.wantNone()
		r.wantAnswers("decline")
		r.wantCancelled(1)
		if !p.gone() {
			t.Error("the call is still waited for")
		}
		r.wantIdle()
	})
}

// What comes behind the answer does nothing.
func TestACancelBehindTheQuestionEndsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		p, first, state := r.held()
		first.cancel(notice)
		retry := r.retries(state)
		first.cancel(notice)
		r.wantAnswers("accept")
		r.wantCancelled(0)
		p.ends(done)
		retry.result()
	})
}

var notice = wire.Notification("notifications/cancelled", []byte(`{"requestId":1}`))

func TestTooManyHoldsLeaveNothingBehind(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		r.proxy.mu.Lock()
		r.proxy.opts.Limits.Questions = 10
		for i := range 10 {
			r.proxy.held[fmt.Sprint(i)] = &run{}
		}
		r.proxy.mu.Unlock()
		c := r.calls(deploy, nil)
		p := r.server.next()
		p.asks("q1", elicitation)
		c.wantRefused("limit")
		r.wantAnswers("decline")
		if !p.gone() {
			t.Error("the call is still waited for")
		}
		r.wantIdle()
	})
}
