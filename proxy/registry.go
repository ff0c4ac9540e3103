package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Tasks are the tasks of one store in the one process that holds it, whichever
// [Proxy] runs them. Its methods may be called from any goroutine.
type Tasks struct {
	store *taskstate.Store
	log   zerolog.Logger
	slots *slots

	mu      sync.Mutex
	running map[string]*run
	former  []taskstate.Task // of an earlier process, to be gone on with, and not claimed yet
}

// NewTasks settles what an earlier process left in the store. What was sent and
// never answered has failed, its outcome unknown: it is not sent again. What was
// stored but never sent, or is a task of the server itself that the server keeps,
// waits for a proxy of the server that it was meant for ([Proxy.Recover]), for
// max_run at most. The store is the caller's to close, after all proxies.
func NewTasks(store *taskstate.Store, log zerolog.Logger) *Tasks {
	t := &Tasks{store: store, log: log, slots: newSlots(), running: map[string]*run{}}
	var writes sync.WaitGroup // together they share their syncs
	defer writes.Wait()
	for _, task := range store.Running() {
		switch {
		case task.Remote != nil: // the server may keep it
			t.holdFormer(task)
		case task.Dispatched:
			writes.Go(func() { t.abandon(task, errRestarted, upstream.Unknown) })
		case overdue(task):
			writes.Go(func() { t.abandon(task, tooLong(task.MaxRun), upstream.NotDispatched) })
		default:
			t.holdFormer(task)
		}
	}
	return t
}

// abandon reports whether the task has ended with that.
func (t *Tasks) abandon(task taskstate.Task, cause error, outcome upstream.Outcome) (ended bool) {
	log := t.log.With().Str("task", task.ID).Str("tool", task.Tool[:min(len(task.Tool), 100)]).Logger()
	switch _, err := t.store.Finish(context.Background(), task.ID, failed(wireError(cause, outcome))); {
	case err == nil:
		log.Warn().Str("outcome", string(outcome)).Msg("a task of an earlier process has failed")
	case !errors.Is(err, taskstate.ErrFinished) && !errors.Is(err, taskstate.ErrClosed):
		log.Error().Err(err).Msg("the end of a task of an earlier process could not be written")
		return false
	}
	return true
}

// overdue tells of a call that waited so long to be sent that nobody can want it any
// more. That it waited for its turn is no reason.
func overdue(task taskstate.Task) bool {
	return task.MaxRun > 0 && time.Since(task.CreatedAt) > task.MaxRun+staleAfter
}

const staleAfter = 24 * time.Hour

// holdFormer has a former task wait for a proxy of its server, and not for ever.
func (t *Tasks) holdFormer(task taskstate.Task) {
	if task.Remote != nil {
		t.holdFor(restOf(task.CreatedAt, task.MaxRun), task, upstream.Unknown)
	} else {
		t.holdFor(task.MaxRun, task, upstream.NotDispatched)
	}
}

// holdFor ends the wait after d, if the task has a max_run. What the disk refuses is
// tried again.
func (t *Tasks) holdFor(d time.Duration, task taskstate.Task, outcome upstream.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.former = append(t.former, task)
	if task.MaxRun <= 0 {
		return
	}
	time.AfterFunc(d, func() {
		if t.takeFormer(task.ID) && !t.abandon(task, tooLong(task.MaxRun), outcome) {
			t.holdFor(time.Minute, task, outcome)
		}
	})
}

func (t *Tasks) takeFormer(id string) (found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := slices.DeleteFunc(t.former, func(task taskstate.Task) bool { return task.ID == id })
	found = len(left) < len(t.former)
	t.former = left
	return found
}

// hasEnded is for a former task that was cancelled, or has waited too long, before
// there was a proxy for it.
func (t *Tasks) hasEnded(id string) bool {
	task, err := t.store.Get(id)
	return err != nil || task.Status.Terminal()
}

// claim hands out the former tasks of a server, once.
func (t *Tasks) claim(identity string) (claimed []taskstate.Task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var left []taskstate.Task
	for _, task := range t.former {
		if task.Upstream == identity {
			claimed = append(claimed, task)
		} else {
			left = append(left, task)
		}
	}
	t.former = left
	return claimed
}

// Running returns the tasks that are at work, oldest first.
func (t *Tasks) Running() []taskstate.Task { return t.store.Running() }

func (t *Tasks) add(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running[r.taskID] = r
}

func (t *Tasks) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, id)
}

func (t *Tasks) runOf(id string) *run {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running[id]
}
