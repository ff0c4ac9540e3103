package proxy

import (
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// held has the server ask one question in a call that is no task.
func (r *rig) held() (p *play, c *call, state string) {
	r.t.Helper()
	c = r.calls(deploy, nil)
	p = r.server.next()
	p.asks("q1", elicitation)
	requests, state := c.asked()
	wantKeys(r.t, requests, "elicitation-1")
	return p, c, state
}

// retries comes back to a call with an answer.
func (r *rig) retries(state string) *call {
	return r.calls(again(deploy, state, accepts("elicitation-1")), nil)
}

func TestARetryIsGivenTheCallsAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		p, first, state := r.held()
		second := r.retries(state)
		r.wantAnswers("accept")
		second.wantNone()
		p.asks("q2", sampling)
		requests, next := second.asked()
		wantKeys(t, requests, "sampling-2")
		third := r.calls(again(deploy, next, accepts("sampling-2")), nil)
		r.wantAnswers("accept", "accept")
		p.ends(done)
		third.result()
		first.wantNone()
		r.server.idle(time.Second)
		r.wantIdle()
	})
}

func TestAStateServesOnce(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		p, _, state := r.held()
		retry := r.retries(state)
		r.retries(state).wantRefused("request_state")
		p.ends(done)
		retry.result()
		r.retries(state).wantRefused("request_state")
		r.wantAnswers("accept")
		r.wantIdle()
	})
}

func TestARefusedRetryDoesNotUseTheStateUp(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		p, _, state := r.held()
		r.calls(again(`{"name":"destroy","arguments":{"n":1}}`, state, `{}`), nil).wantRefused("request_state")
		r.calls(again(`{"name":"deploy","arguments":{"n":2}}`, state, `{}`), nil).wantRefused("request_state")
		r.calls(again(deploy, state, `{}`), func(req *Request) { req.Owner = "mallory" }).wantRefused("request_state")
		r.calls(again(deploy, state+"A", `{}`), nil).wantRefused("request_state")
		retry := r.retries(state)
		settle()
		p.ends(done)
		retry.result()
		r.wantAnswers("accept")
	})
}

func TestARetryWithoutTheAnswerIsAskedAgain(t *testing.T) {
	for _, responses := range []string{`{}`, `{"elicitation-1":"yes"}`, `{"elicitation-2":{"action":"accept"}}`, `null`} {
		t.Run(responses, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{})
				p, _, state := r.held()
				requests, next := r.calls(again(deploy, state, responses), nil).asked()
				wantKeys(t, requests, "elicitation-1")
				r.retries(state).wantRefused("request_state")
				retry := r.retries(next)
				r.wantAnswers("accept")
				p.ends(done)
				retry.result()
				r.wantIdle()
			})
		})
	}
}

func TestAnAnswerThatCameMeanwhileIsGivenToTheRetry(t *testing.T) {
	for name, meanwhile := range map[string]func(p *play){
		"without waiting": func(*play) {},
		"withdrawn":       func(p *play) { p.withdraws("q1"); settle() },
		"asked once more": func(p *play) { p.asks("q2", sampling); settle() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{})
				p, _, state := r.held()
				meanwhile(p)
				p.ends(done)
				settle()
				time.Sleep(time.Minute)
				if got := string(r.retries(state).result()); got != done {
					t.Errorf("the retry got %s", got)
				}
				r.wantIdle()
			})
		})
	}
}

func TestTheDeathOfTheServerIsTheRetrysAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{})
		_, _, state := r.held()
		r.dies()
		settle()
		r.retries(state).wantRefused("upstream_stream_cut")
		r.wantIdle()
	})
}
