package host

import (
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// told keeps what the last listener was told of a task, for those who are told the
// same in the same moment: many may listen to one task, and its result may be large.
type told struct {
	mu     sync.Mutex
	task   taskstate.Task
	params []byte // nil where nothing is kept
	timer  *time.Timer
}

// toldFor is a little longer than it takes to tell everybody.
const toldFor = time.Second

// paramsOf are those of a notifications/tasks.
func (t *told) paramsOf(task taskstate.Task) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.params == nil || !looksLike(t.task, task) {
		t.task, t.params = task, detailed("", task)
		t.forgetLater()
	}
	return t.params
}

func (t *told) forgetLater() {
	if t.timer == nil {
		t.timer = time.AfterFunc(toldFor, t.forget)
	}
	t.timer.Reset(toldFor)
}

func (t *told) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.task, t.params = taskstate.Task{}, nil
}

// looksLike compares what is shown. What is long is the same only in the same memory.
func looksLike(a, b taskstate.Task) bool {
	return a.ID == b.ID && a.Status == b.Status && a.StatusMessage == b.StatusMessage && a.UpdatedAt.Equal(b.UpdatedAt) &&
		isSame(a.Outcome, b.Outcome) && isSame(a.Inputs, b.Inputs) && isSame(a.Progress, b.Progress)
}

func isSame(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
