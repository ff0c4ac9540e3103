package proxy

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// asksAll has the server ask one question of each kind in a new task.
func (r *rig) asksAll() (p *play, id string) {
	r.t.Helper()
	c := r.calls(deploy, asTask)
	p = r.server.next()
	for i, question := range []string{elicitation, sampling, roots} {
		p.asks(fmt.Sprint("q", i+1), question)
	}
	id = c.task().ID
	settle()
	return p, id
}

var inTask = Policy{Task: After, After: time.Minute}

func TestNoKeyStandsForTwoQuestionsOfATask(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, inTask)
		p, id := r.asksAll()
		r.wantAsked(id, "elicitation-1", "sampling-2", "roots-3")
		r.update(id, accepts("elicitation-1", "sampling-2", "roots-3"))
		p.asks("q4", elicitation)
		settle()
		p.withdraws("q4")
		settle()
		r.wantAsked(id)
		p.asks("q4", elicitation) // servers may use an id again
		p.asks("q5", sampling)
		settle()
		r.wantAsked(id, "elicitation-5", "sampling-6")
		r.update(id, accepts("elicitation-1", "elicitation-4"))
		r.wantAsked(id, "elicitation-5", "sampling-6")
		p.ends(done)
		r.wantEnd(id, "completed")
	})
}

func TestAnswersAreGoneFromTheTaskAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, inTask)
		p, id := r.asksAll()
		r.update(id, accepts("sampling-2"))
		r.wantAsked(id, "elicitation-1", "roots-3")
		r.update(id, accepts("elicitation-1", "roots-3"))
		r.wantAsked(id)
		r.wantAnswers("accept", "accept", "accept")
		p.ends(done)
		r.wantEnd(id, "completed")
		r.wantIdle()
	})
}

func TestWhatAnswersNothingIsIgnored(t *testing.T) {
	for name, responses := range map[string]string{
		"no object":     `[]`,
		"null":          `null`,
		"nothing":       `{}`,
		"unknown key":   accepts("elicitation-9", "", "q1"),
		"key of a case": accepts("Elicitation-1"),
		"no answers":    `{"elicitation-1":"accept","sampling-2":null,"roots-3":[{"uri":"file:///"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, inTask)
				_, id := r.asksAll()
				before := r.task(id)
				r.update(id, responses)
				r.wantAsked(id, "elicitation-1", "sampling-2", "roots-3")
				if !r.task(id).UpdatedAt.Equal(before.UpdatedAt) {
					t.Error("lastUpdatedAt has moved")
				}
				r.wantAnswers()
				r.cancel(id)
			})
		})
	}
}

func TestAQuestionIsAnsweredOnce(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		for range 20 {
			r := newRig(t, store, upstream.Initialize, inTask)
			p, id := r.asksAll()
			var updates sync.WaitGroup
			for range 3 {
				updates.Go(func() { r.update(id, accepts("elicitation-1", "sampling-2")) })
			}
			updates.Wait()
			r.update(id, `{"elicitation-1":{"action":"decline"}}`)
			r.wantAsked(id, "roots-3")
			r.wantAnswers("accept", "accept")
			p.ends(done)
			r.wantEnd(id, "completed")
			r.closes()
		}
	})
}

func TestNobodyElseAnswersForTheOwner(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, inTask)
		_, id := r.asksAll()
		if err := r.proxy.UpdateTask("mallory", id, []byte(accepts("elicitation-1"))); err != taskstate.ErrNotFound {
			t.Errorf("UpdateTask: %v", err)
		}
		if _, err := r.proxy.Watch("mallory", id); err != taskstate.ErrNotFound {
			t.Errorf("Watch: %v", err)
		}
		r.wantAsked(id, "elicitation-1", "sampling-2", "roots-3")
		r.wantAnswers()
		r.cancel(id)
	})
}

func TestTheUnansweredGetWhatTheirMethodHasForIt(t *testing.T) {
	policy := inTask
	policy.InputTimeout = time.Minute
	for name, end := range map[string]func(r *rig, id string){
		"input_timeout": func(*rig, string) { time.Sleep(time.Minute) },
		"cancel":        func(r *rig, id string) { r.cancel(id) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, policy)
				_, id := r.asksAll()
				end(r, id)
				settle()
				r.wantAsked(id)
				got := map[string]string{}
				for _, m := range r.got() {
					got[string(m.ID())] = gist(m)
				}
				if fmt.Sprint(got) != `map["q1":decline "q2":-1 "q3":-32603]` {
					t.Errorf("the server got %v", got)
				}
			})
		})
	}
}

// What is asked in one task can be more than it can show, though no message is
// over the limit.
func TestAQuestionThatIsTooLargeLeavesNoOtherBehind(t *testing.T) {
	large := wire.Request(0, "elicitation/create", []byte(`{"message":"`+strings.Repeat("x", maxInputBytes)+`"}`))
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, inTask)
		p, id := r.asksOne()
		answers := make(chan wire.Message, 2)
		r.proxy.opts.Tasks.runOf(id).ask(large, func(m wire.Message) { answers <- m })
		settle()
		task, answered := r.task(id), len(r.got())
		if (task.Status == taskstate.InputRequired) != (answered == 0) || len(answers) != 1 {
			t.Errorf("the task is %s and asks %s; %d of 1 small and %d of 1 large question are answered", task.Status, task.Inputs, answered, len(answers))
		}
		r.update(id, accepts("elicitation-1"))
		if n := len(r.got()); n != 1 {
			t.Errorf("the small question got %d answers", n)
		}
		p.ends(done)
		r.wantEnd(id, "completed")
	})
}
