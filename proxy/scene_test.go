package proxy

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// event is one of the things that can happen while a question is open.
type event struct {
	name string
	// policy has the proxy's own clock do it; else does does.
	policy func(p *Policy, after time.Duration)
	does   func(s *scene)

	says  string // what the server hears if the question is still open; "" for nothing
	maybe bool   // it may not hear it
	ends  string // how the task ends; "" for not at all
	moot  bool   // nothing happens without the question
}

var events = []event{
	{name: "answer", does: func(s *scene) { s.update(s.id, accepts("elicitation-1")) }, says: "accept", ends: "completed", moot: true},
	{name: "timeout", policy: func(p *Policy, d time.Duration) { p.InputTimeout = d }, says: "decline", ends: "completed", moot: true},
	{name: "withdrawal", does: func(s *scene) { s.play.withdraws("q") }, moot: true},
	{name: "cancel", does: func(s *scene) { s.cancel(s.id) }, says: "decline", ends: "cancelled"},
	{name: "max_run", policy: func(p *Policy, d time.Duration) { p.MaxRun = d }, says: "decline", ends: "failed max_run"},
	{name: "death", does: func(s *scene) { s.dies() }, ends: "failed upstream_stream_cut"},
	{name: "end", does: func(s *scene) { s.play.ends(done) }, says: "decline", ends: "completed"},
	{name: "Close", does: func(s *scene) { s.closes() }, says: "decline", maybe: true, ends: "failed shutdown"},
}

// scene is a task whose server has asked one question.
type scene struct {
	*rig
	play *play
	id   string
	saw  chan []taskstate.Task
}

func newScene(t *testing.T, store *disk, policy Policy) *scene {
	s := &scene{rig: newRig(t, store, upstream.Initialize, policy), saw: make(chan []taskstate.Task, 1)}
	c := s.calls(deploy, asTask)
	s.play = s.next()
	s.react = func(wire.Message) { s.play.ends(done) }
	s.play.asks("q", elicitation)
	s.id = c.task().ID
	watch, err := s.proxy.Watch("", s.id)
	if err != nil {
		t.Fatal(err)
	}
	go s.follows(watch)
	return s
}

// follows sees the task to its end.
func (s *scene) follows(w *taskstate.Watch) {
	defer w.Close()
	var all []taskstate.Task
	for {
		task, err := w.Next(context.Background())
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.t.Errorf("Watch: %v", err)
			}
			s.saw <- all
			return
		}
		all = append(all, task)
	}
}

// plays has events happen, each at its time, and then the server come to an end.
func (s *scene) plays(all []event, at []time.Duration) {
	var work sync.WaitGroup
	for i, e := range all {
		if e.does != nil {
			work.Go(func() {
				time.Sleep(at[i])
				for range rand.N(50) {
					runtime.Gosched()
				}
				e.does(s)
			})
		}
	}
	within(s.t, "an event", work.Wait)
	time.Sleep(time.Second)
	s.play.ends(done)
	settle()
}

// checkEnd returns how the task has ended, once.
func (s *scene) checkEnd() string {
	s.t.Helper()
	var saw []taskstate.Task
	select {
	case saw = <-s.saw:
	case <-time.After(time.Hour):
		s.t.Fatalf("the task has no end: it is %s", s.task(s.id).Status)
	}
	for i, task := range saw {
		if task.Status.Terminal() != (i == len(saw)-1) {
			s.t.Errorf("state %d of %d is %s", i+1, len(saw), end(task))
		}
	}
	if diff := cmp.Diff(saw[len(saw)-1], s.task(s.id)); diff != "" {
		s.t.Errorf("the end has changed: %s", diff)
	}
	s.wantIdle()
	s.closes()
	return end(s.task(s.id))
}

// checkSaid checks that the server got one answer, if it can have got one.
func (s *scene) checkSaid(want ...string) {
	s.t.Helper()
	said := ""
	for i, m := range s.got() {
		if said = gist(m); i > 0 {
			s.t.Errorf("the server got a second answer: %s", m.Raw())
		}
	}
	if !slices.Contains(want, said) {
		s.t.Errorf("the server got the answer %q, want one of %q", said, want)
	}
}

func policyFor(all []event, at []time.Duration) Policy {
	policy := Policy{Task: After, After: time.Second, InputTimeout: never, MaxRun: never}
	for i, e := range all {
		if e.policy != nil {
			e.policy(&policy, at[i])
		}
	}
	return policy
}
