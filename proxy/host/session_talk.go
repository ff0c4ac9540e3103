package host

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// talk is what a session and its host have to say about one task: the host of the
// session that made it hears of each change, and is asked the task's questions;
// one that waits for the result is asked them, too. No session is asked the same
// twice.
type talk struct {
	session *session
	id      string

	mu     sync.Mutex        // also held while the host is told, for the order
	made   bool              // in this session
	quiet  bool              // the host does not hear how the task stands
	state  []byte            // the task, as the host is to see it; nil until it is known
	shown  []byte            // as it has seen it
	inputs []byte            // the open questions
	asked  map[string]func() // of those, what the host has been asked; each takes it back
	ways   []*way            // of open tasks/result
}

type way struct{ notify func(wire.Message) }

// hear takes the next state of the task.
func (t *talk) hear(task taskstate.Task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state, t.inputs = t.session.olderTask(task), task.Inputs
	t.tell()
	t.ask()
}

// isMade is for the session that made the task, when its host has the answer. It
// may have waited for the result before that.
func (t *talk) isMade(shown []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made, t.shown = true, shown
	t.tell()
	t.ask()
}

// isTicket is isMade for a host that knows of no tasks.
func (t *talk) isTicket() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made, t.quiet = true, true
	t.ask()
}

// tell is for a host that can be told at any time; others have to ask.
func (t *talk) tell() {
	if t.made && !t.quiet && t.state != nil && !bytes.Equal(t.state, t.shown) && t.session.isReachable() {
		t.shown = t.state
		t.session.sendBehind(wire.Notification("notifications/tasks/status", t.state))
	}
}

// ask brings what the host is asked into line with what the task asks.
func (t *talk) ask() {
	wire.Each(t.inputs, func(key string, request []byte) {
		if send := t.way(); send != nil && t.asked[key] == nil {
			t.asked[key] = t.session.questions.ask(t.question(request), t.answered(key), send)
		}
	})
	for key, takeBack := range t.asked {
		if wire.Get(t.inputs, key) == nil {
			delete(t.asked, key)
			takeBack()
		}
	}
}

// way is how the host is asked: by the newest tasks/result, else, in the session
// that made the task, by what it has open for news; nil if there is none.
func (t *talk) way() func(wire.Message) {
	switch {
	case len(t.ways) > 0:
		return t.ways[len(t.ways)-1].notify
	case t.made && t.session.isReachable():
		return t.session.sendBehind
	}
	return nil
}

// send is for progress.
func (t *talk) send(m wire.Message) {
	t.mu.Lock()
	send := t.way()
	t.mu.Unlock()
	if send != nil {
		send(m)
	}
}

func (t *talk) leave(w *way) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ways = slices.DeleteFunc(t.ways, func(other *way) bool { return other == w })
}

// question is an input of the task as a request to the host (revision
// 2025-11-25, Tasks, Input Required Status). It is no task of the host's: what is
// stored waits for an answer.
func (t *talk) question(request []byte) wire.Message {
	method, _ := wire.String(wire.Get(request, "method"))
	params := related(wire.Delete(wire.Get(request, "params"), "task"), t.id)
	m := wire.Request(0, method, params).With(wire.Changes{ID: proxy.QuestionID})
	if method == "elicitation/create" {
		return withElicitationID(m)
	}
	return m
}

// answered takes the host's response, on the goroutine that reads from it: what
// comes of it waits for the disk.
func (t *talk) answered(key string) func(wire.Message) {
	return func(m wire.Message) { t.session.spawn(func() { t.pass(key, m) }) }
}

func (t *talk) pass(key string, m wire.Message) {
	s, result := t.session, m.Result()
	switch {
	case isUnasked(m): // others may have been, or are yet to be
		t.mu.Lock()
		delete(t.asked, key)
		t.mu.Unlock()
	case wire.IsObject(result):
		responses := wire.Set(nil, key, wire.DeleteIn(result, "_meta", metaRelatedTask))
		t.insist(func() error { return s.Proxy.UpdateTask(s.owner, t.id, responses) })
	default:
		text, _ := wire.String(wire.Get(m.Err(), "message"))
		why := fmt.Sprintf("The client answered with an error: %.300s.", strings.TrimSuffix(text, "."))
		t.insist(func() error { return s.Proxy.RefuseInput(s.owner, t.id, key, why) })
	}
}

// insist has an answer taken: the host gives it once.
func (t *talk) insist(take func() error) {
	for {
		err := take()
		if err == nil || errors.Is(err, taskstate.ErrNotFound) {
			return
		}
		t.session.Log.Error().Err(err).Str("task", t.id).Msg("the answer to a question of a task could not be stored; trying again")
		select {
		case <-time.After(takeAgain):
		case <-t.session.ctx.Done():
			return
		}
	}
}

const takeAgain = time.Second

// isUnasked tells the answer to a question that never reached the host.
func isUnasked(m wire.Message) bool { return bytes.Equal(m.Err(), unasked().Err()) }
