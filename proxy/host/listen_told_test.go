package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// What is told of a task is put together once for all who listen, anew when it has
// changed, and not kept.
func TestTaskIsToldToManyInTheSameMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := &told{}
		task := taskstate.Task{ID: "A", Status: taskstate.Completed, TTL: time.Hour, Outcome: []byte(`{"content":[]}`)}
		first := told.paramsOf(task)
		if string(first) != string(detailed("", task)) {
			t.Errorf("told is %s", first)
		}
		if again := told.paramsOf(task); !isSame(first, again) {
			t.Error("the second listener is told a copy")
		}
		for name, change := range map[string]func(*taskstate.Task){
			"id": func(t *taskstate.Task) { t.ID = "B" }, "status": func(t *taskstate.Task) { t.Status = taskstate.Cancelled },
			"message": func(t *taskstate.Task) { t.StatusMessage = "x" }, "time": func(t *taskstate.Task) { t.UpdatedAt = time.Now() },
			"result": func(t *taskstate.Task) { t.Outcome = []byte(`{"content":{}}`) }, "progress": func(t *taskstate.Task) { t.Progress = []byte("{}") },
			"questions": func(t *taskstate.Task) { t.Inputs = []byte("{}") },
		} {
			other := task
			change(&other)
			if got := told.paramsOf(other); string(got) != string(detailed("", other)) {
				t.Errorf("another %s: told is %s", name, got)
			}
		}
		time.Sleep(2 * toldFor)
		told.mu.Lock()
		defer told.mu.Unlock()
		if told.params != nil || told.task.Outcome != nil {
			t.Error("it is kept")
		}
	})
}
