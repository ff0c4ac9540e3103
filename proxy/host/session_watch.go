package host

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// talks are the tasks that a session talks about with its host, each followed by
// a goroutine of the channel's.
type talks struct {
	session *session

	mu    sync.Mutex
	open  map[string]*talk // by task
	made  map[string]bool  // tasks that were made in the session, and had not ended when it was last heard of them
	purge int              // how many of them are looked through
	waits int              // open tasks/result
}

// maxTalks bounds open; maxWaits what a host may wait for.
const maxTalks, maxWaits = 1000, 1000

func newTalks(s *session) *talks {
	return &talks{session: s, open: map[string]*talk{}, made: map[string]bool{}, purge: 2 * maxTalks}
}

// begin follows a task that was made in the session; nil if it follows too many
// already. Then the host has to ask.
func (ts *talks) begin(task taskstate.Task) *talk {
	ts.keep(task.ID)
	t := ts.follow(task.ID)
	if t != nil {
		t.isMade(ts.session.newTask(task))
	}
	return t
}

// beginQuiet is for a host that has a ticket, and knows of no tasks: it hears of
// questions alone.
func (ts *talks) beginQuiet(task taskstate.Task) {
	ts.keep(task.ID)
	if t := ts.follow(task.ID); t != nil {
		t.isTicket()
	}
}

// keep notes a task that the session with the server has to outlive its host for.
func (ts *talks) keep(id string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.made[id] = true
	if len(ts.made) >= ts.purge {
		ts.purgeLocked()
		ts.purge = 2 * max(len(ts.made), maxTalks)
	}
}

// purgeLocked forgets what has ended unseen.
func (ts *talks) purgeLocked() {
	for id := range ts.made {
		if !ts.runs(id) {
			delete(ts.made, id)
		}
	}
}

// runs also says so of a task that cannot be looked up just now.
func (ts *talks) runs(id string) bool {
	task, err := ts.session.Proxy.Task(ts.session.owner, id)
	return err != nil && !errors.Is(err, taskstate.ErrNotFound) || err == nil && !task.Status.Terminal()
}

// attend has a task's questions put by the way of a tasks/result, until leave is
// called.
func (ts *talks) attend(task taskstate.Task, notify func(wire.Message)) (leave func()) {
	t := ts.follow(task.ID)
	if t == nil {
		return func() {}
	}
	w := &way{notify}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ways = append(t.ways, w)
	t.ask()
	return func() { t.leave(w) }
}

// follow begins a talk, unless there is one about the task.
func (ts *talks) follow(id string) *talk {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if known := ts.open[id]; known != nil {
		return known
	}
	t := &talk{session: ts.session, id: id, asked: map[string]func(){}}
	if len(ts.open) >= maxTalks || !ts.session.spawn(t.follow) {
		return nil
	}
	ts.open[id] = t
	return t
}

func (t *talk) follow() {
	ended := false
	defer func() { t.session.talks.forget(t, ended) }()
	watch, err := t.session.Proxy.Watch(t.session.owner, t.id)
	if err != nil {
		return
	}
	defer watch.Close()
	for !ended {
		task, err := watch.Next(t.session.ctx)
		if err != nil {
			return
		}
		t.hear(task)
		ended = task.Status.Terminal()
	}
}

func (ts *talks) forget(t *talk, ended bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.open, t.id)
	if ended {
		delete(ts.made, t.id)
	}
}

// unfinished reports whether a task that was made in the session still needs the
// session with the server.
func (ts *talks) unfinished() bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.purgeLocked()
	return len(ts.made) > 0
}

// reached is for a host that can be sent questions now, and could not before.
func (ts *talks) reached() {
	ts.mu.Lock()
	open := slices.Collect(maps.Values(ts.open))
	ts.mu.Unlock()
	for _, t := range open {
		t.mu.Lock()
		t.ask()
		t.mu.Unlock()
	}
}

// wait counts a tasks/result; it is false where there are too many.
func (ts *talks) wait() bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.waits >= maxWaits {
		return false
	}
	ts.waits++
	return true
}

func (ts *talks) waited() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.waits--
}
