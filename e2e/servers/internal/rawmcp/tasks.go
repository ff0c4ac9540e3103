package rawmcp

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

// The states of a task, in both eras.
const (
	working       = "working"
	inputRequired = "input_required"
	completed     = "completed"
	failed        = "failed"
	cancelled     = "cancelled"
)

// task is a call that was answered with a handle. The tasks' lock guards it.
type task struct {
	id               string
	created, updated time.Time
	status, message  string
	ttl              string          // raw: milliseconds or null
	result, failure  json.RawMessage // at the end one of them, unless it was cancelled
	over             chan struct{}   // closed at the end
	open             int             // questions without a reply
	last             int             // questions so far

	queue   []string           // initialize era: lines that wait for tasks/result
	readers int                // initialize era: tasks/result that wait for the end
	inputs  map[string]pending // stateless era: what is asked, by key
}

// tasks are all that the server ever made.
type tasks struct {
	mu  sync.Mutex
	all map[string]*task
}

// task calls use with the task of this id, locked, if there is one.
func (s *server) task(id string, use func(*task)) bool {
	s.tasks.mu.Lock()
	defer s.tasks.mu.Unlock()
	t := s.tasks.all[id]
	if t != nil {
		use(t)
	}
	return t != nil
}

// callTool runs a tool, by a task if the era says so.
func (s *server) callTool(m message) {
	tool := text(member(m.Params, "name"))
	c := newCall(s, m, tool)
	if s.opts.Tasks != "" {
		task, refusal := s.era.tasked(m, s.opts.support(tool))
		if refusal != "" {
			s.refuse(m.ID, refusal)
			return
		}
		if task {
			c.task = s.create(m)
		}
	}
	s.effects.add("call " + tool)
	if member(m.Params, "inputResponses") == nil && member(m.Params, "requestState") == nil {
		c.trace("did")
	}
	if c.task == nil {
		s.begin(string(m.ID), c, (*call).run)
		return
	}
	s.begin(taskKey(c.task.id), c, (*call).run)
}

// taskKey is no raw id of a request.
func taskKey(id string) string { return "task " + id }

// create answers a call with a new task.
func (s *server) create(m message) *task {
	now := time.Now()
	t := &task{
		id: rand.Text(), created: now, updated: now, status: working, ttl: "3600000",
		over: make(chan struct{}), inputs: map[string]pending{},
	}
	if ttl := member(m.Params, "task", "ttl"); ttl != nil {
		t.ttl = string(ttl)
	}
	s.tasks.mu.Lock()
	defer s.tasks.mu.Unlock()
	s.tasks.all[t.id] = t
	s.reply(m.ID, s.era.created(t))
	return t
}

// move changes the state of a task that is not over.
func (s *server) move(t *task, status, message string) {
	s.tasks.mu.Lock()
	defer s.tasks.mu.Unlock()
	if t.result == nil && t.failure == nil && t.status != cancelled {
		t.status, t.message, t.updated = status, message, time.Now()
		s.era.told(t)
	}
}

// end gives a task its outcome, unless it has one.
func (s *server) end(t *task, result, failure json.RawMessage) {
	s.tasks.mu.Lock()
	defer s.tasks.mu.Unlock()
	if t.status == completed || t.status == failed || t.status == cancelled {
		return
	}
	t.result, t.failure, t.updated, t.inputs = result, failure, time.Now(), nil
	t.status, t.message = s.era.verdict(t)
	s.era.told(t)
	close(t.over)
}

// cancelTask ends a task that is not over, and says whether it did.
func (s *server) cancelTask(t *task) bool {
	if t.status != working && t.status != inputRequired {
		return false
	}
	t.status, t.message, t.updated, t.inputs = cancelled, "cancelled by request", time.Now(), nil
	s.era.told(t)
	close(t.over)
	s.cancel(taskKey(t.id), errCancelled)
	return true
}

// heard is that a question of the call was answered.
func (c *call) heard() {
	if c.task == nil {
		return
	}
	c.s.tasks.mu.Lock()
	c.task.open--
	left := c.task.open
	c.s.tasks.mu.Unlock()
	if left == 0 {
		c.s.move(c.task, working, "")
	}
}

// sorted are all tasks, the oldest first.
func (s *server) sorted() []*task {
	return slices.SortedFunc(maps.Values(s.tasks.all), func(a, b *task) int { return a.created.Compare(b.created) })
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
