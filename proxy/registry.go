package proxy

import (
	"context"
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

	mu      sync.Mutex
	running map[string]*run
	former  []taskstate.Task // stored by an earlier process, never sent, and not claimed yet
}

// NewTasks settles what an earlier process left in the store. What was sent and
// never answered has failed, its outcome unknown: it is not sent again. What was
// stored but never sent waits for a proxy of the server that it was meant for
// ([Proxy.Recover]). The store is the caller's to close, after all proxies.
func NewTasks(store *taskstate.Store, log zerolog.Logger) *Tasks {
	t := &Tasks{store: store, log: log, running: map[string]*run{}}
	var writes sync.WaitGroup // together they share their syncs
	defer writes.Wait()
	for _, task := range store.Running() {
		switch {
		case task.Dispatched:
			writes.Go(func() { t.abandon(task, errRestarted, upstream.Unknown) })
		case task.MaxRun > 0 && time.Since(task.CreatedAt) > task.MaxRun:
			writes.Go(func() { t.abandon(task, tooLong(task.MaxRun), upstream.NotDispatched) })
		default:
			t.former = append(t.former, task)
		}
	}
	return t
}

func (t *Tasks) abandon(task taskstate.Task, cause error, outcome upstream.Outcome) {
	log := t.log.With().Str("task", task.ID).Str("tool", task.Tool).Logger()
	if _, err := t.store.Finish(context.Background(), task.ID, failed(wireError(cause, outcome))); err != nil {
		log.Error().Err(err).Msg("the end of a task of an earlier process could not be written")
		return
	}
	log.Warn().Str("outcome", string(outcome)).Msg("a task of an earlier process has failed")
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
	t.running[r.task.ID] = r
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
