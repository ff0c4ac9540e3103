package taskstate

import (
	"errors"
	"testing"
)

// What the store has not given is not even looked for: the time of a look would tell
// how much of it is right. Here it would be found.
func TestIDThatWasNeverGivenIsNotLookedFor(t *testing.T) {
	for _, node := range []string{"", "a_1"} {
		dir := t.TempDir()
		s := open(t, dir, &Options{Node: node})
		task := create(t, s, Task{})
		complete(t, s, task.ID, []byte("{}"))
		forged := task
		last := byte('A')
		if task.ID[len(task.ID)-1] == last {
			last = 'B'
		}
		forged.ID = task.ID[:len(task.ID)-1] + string(last)
		var w writer
		w.set(headerKey(forged.ID), headerOf(get(t, s, task.ID)).encode())
		w.set(outcomeKey(forged.ID), []byte("{}"))
		if err := s.transact(&w); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := s.Get(forged.ID); !errors.Is(err, ErrNotFound) {
				t.Errorf("Get: %v", err)
			}
			if _, err := s.Watch(forged.ID); !errors.Is(err, ErrNotFound) {
				t.Errorf("Watch: %v", err)
			}
			get(t, s, task.ID)
			shut(t, s)
			s = open(t, dir, &Options{Node: node})
		}
		if s.tagged = false; get(t, s, forged.ID).Status != Completed {
			t.Error("it would not have been found anyway: the test shows nothing")
		}
	}
}
