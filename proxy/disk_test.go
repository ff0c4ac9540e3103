package proxy

import (
	"errors"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

func TestAFullDiskLosesNoQuestionAndNoAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, inTask)
		p, id := r.asksOne()
		store.full.Store(true)
		p.asks("q2", elicitation)
		settle()
		r.wantAsked(id, "elicitation-1")
		r.wantAnswers("decline") // to the one that nobody has seen
		if err := r.proxy.UpdateTask("", id, []byte(accepts("elicitation-1"))); !errors.Is(err, taskstate.ErrNoSpace) {
			t.Errorf("UpdateTask: %v", err)
		}
		r.wantAsked(id, "elicitation-1")
		store.full.Store(false)
		r.update(id, accepts("elicitation-1"))
		r.wantAsked(id)
		r.wantAnswers("decline", "accept")
		p.ends(done)
		r.wantEnd(id, "completed")
	})
}

// Where the disk does not take it that nobody has answered, the server still
// hears of it.
func TestAFullDiskHoldsNoTimeoutUp(t *testing.T) {
	policy := inTask
	policy.InputTimeout = time.Second
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, policy)
		p, id := r.asksOne()
		store.full.Store(true)
		time.Sleep(2 * time.Second)
		r.wantAnswers("decline")
		store.full.Store(false)
		r.update(id, accepts("elicitation-1"))
		r.wantAnswers("decline")
		p.asks("q2", sampling)
		settle()
		r.wantAsked(id, "sampling-2")
		p.ends(done)
		r.wantEnd(id, "completed")
	})
}

// However often a host tries, the proxy does so by itself once a second.
func TestAFullDiskIsNotTriedMoreOftenTheMoreHostsTry(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, inTask)
		_, id := r.asksOne()
		store.full.Store(true)
		for range 20 {
			_ = r.proxy.UpdateTask("", id, []byte(accepts("elicitation-1")))
		}
		before := r.errors.Load()
		time.Sleep(10 * time.Second)
		if n := r.errors.Load() - before; n > 11 {
			t.Errorf("it was tried %d times in 10 s", n)
		}
		store.full.Store(false)
		r.cancel(id)
	})
}
