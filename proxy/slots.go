package proxy

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Limits bound what is at work at a time, and what is kept of it. 0 is no limit.
type Limits struct {
	// Running tasks, of all owners and of one. The local user, who has no name, is
	// bound by the first alone.
	Running, RunningPerOwner int
	// Queued is how many calls may wait for their turn.
	Queued int
	// Reject refuses what finds no place, rather than let it wait.
	Reject bool
	// Questions is how many calls may wait for their hosts to come back with
	// answers, half of them for one owner of several; 0 is 1,000.
	Questions int
	// ResultBytes is the largest result of a task that is stored and given as it
	// is, and LargeResults what is done with a larger one.
	ResultBytes  int
	LargeResults LargeResults
}

// slots are the places for what runs, in all proxies that share a store. Whoever
// finds none waits, and has none meanwhile: of those that fit, the next is the one
// whose owner has the least running, of these the one that came first.
type slots struct {
	mu      sync.Mutex
	running int
	byOwner map[string]int
	byTool  map[string]int
	waiting []*turn
}

func newSlots() *slots { return &slots{byOwner: map[string]int{}, byTool: map[string]int{}} }

// turn is what a run needs to be at work: a place among the calls of its tool, one
// among the tasks, or both. It is under slots.mu.
type turn struct {
	limits Limits
	owner  string
	tool   string // with its server; empty for no place among its calls
	most   int    // of these at a time
	task   bool   // whether a place among the tasks is needed

	placed  bool
	granted func() // posts; it must not wait
}

// full is the limit that t would break; empty for none.
func (s *slots) full(t *turn) (limit string, most int) {
	switch l := t.limits; {
	case t.tool != "" && s.byTool[t.tool] >= t.most:
		return "concurrency", t.most
	case !t.task:
	case l.Running > 0 && s.running >= l.Running:
		return "running", l.Running
	case l.RunningPerOwner > 0 && t.owner != "" && s.byOwner[t.owner] >= l.RunningPerOwner:
		return "running_per_owner", l.RunningPerOwner
	}
	return "", 0
}

// take gives t its place, or has it wait for one. At the end of the queue, or
// where nobody is to wait, it is refused, unless it was admitted before.
func (s *slots) take(t *turn, admitted bool) (placed bool, refused *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, most := s.full(t)
	switch {
	case limit == "":
		s.placeLocked(t)
		return true, nil
	case admitted:
	case t.limits.Reject:
		return false, errFull(limit, most)
	case t.limits.Queued > 0 && len(s.waiting) >= t.limits.Queued:
		return false, errFull("queued", t.limits.Queued)
	}
	s.waiting = append(s.waiting, t)
	return false, nil
}

// force gives t its place whatever the limits say: what it stands for runs.
func (s *slots) force(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.placeLocked(t)
}

// becomeTask has a turn that waits, or waited just now, count as a task's, too.
func (s *slots) becomeTask(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.placed {
		s.countLocked(&turn{owner: t.owner, task: true}, 1)
	}
	t.task = true
}

func (s *slots) placeLocked(t *turn) {
	t.placed = true
	s.countLocked(t, 1)
}

func (s *slots) countLocked(t *turn, n int) {
	if t.tool != "" {
		add(s.byTool, t.tool, n)
	}
	if t.task {
		s.running += n
		add(s.byOwner, t.owner, n)
	}
}

// add keeps no zeros.
func add(counts map[string]int, key string, n int) {
	if counts[key] += n; counts[key] == 0 {
		delete(counts, key)
	}
}

// release gives the place, or the wait for it, to others. It may be called more
// than once.
func (s *slots) release(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.placed {
		s.countLocked(t, -1)
	}
	t.placed = false
	s.dropLocked(t)
	for next := s.nextLocked(); next != nil; next = s.nextLocked() {
		s.dropLocked(next)
		s.placeLocked(next)
		next.granted()
	}
}

func (s *slots) dropLocked(t *turn) {
	s.waiting = slices.DeleteFunc(s.waiting, func(other *turn) bool { return other == t })
}

func (s *slots) nextLocked() (best *turn) {
	for _, t := range s.waiting {
		if limit, _ := s.full(t); limit == "" && (best == nil || s.byOwner[t.owner] < s.byOwner[best.owner]) {
			best = t
		}
	}
	return best
}

// errFull names the limit of a turn: nothing was begun.
func errFull(limit string, most int) *wire.Error {
	what := map[string]string{
		"concurrency":       "calls of this tool are at work",
		"running":           "tasks are at work",
		"running_per_owner": "tasks of this client are at work",
		"queued":            "calls wait for their turn",
	}[limit]
	return OverLimit(limit, most, what+" already. Try again when some have ended.")
}

// OverLimit is the error for what was not begun, because there are as many as a limit
// allows. The limit is named by its key in the configuration, in limits or of a tool;
// what says, in sentences, of what there are so many, and what to do.
func OverLimit(limit string, most int, what string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: fmt.Sprintf("The proxy takes no more (%s: %d): so many %s %s", inConfiguration(limit), most, what, upstream.NotDispatched.Sentence()),
		Data:    errorData{Reason: "limit", Outcome: upstream.NotDispatched, Limit: fmt.Sprintf("%s: %d", limit, most)},
	}
}

// inConfiguration is where a limit is found there, if it is.
func inConfiguration(limit string) string {
	switch key, _, _ := strings.Cut(limit, ":"); {
	case key == "concurrency":
		return "the tool's " + limit
	case strings.Contains(key, " "): // no key
		return limit
	}
	return "limits." + limit
}
