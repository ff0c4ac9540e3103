package taskstate

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressComesAtMostOnceASecondAndIsTheLatest(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, nil)
		id := newTask(t, s)
		w := watch(t, s, id)
		next(t, w)
		go func() {
			for i := range 1000 { // 10 s
				s.Touch(id, fmt.Sprint(i), nil)
				time.Sleep(10 * time.Millisecond)
			}
		}()
		started := time.Now()
		for i := range 10 {
			got := next(t, w)
			if at := time.Since(started); at != time.Duration(i)*time.Second {
				t.Errorf("snapshot %d after %v", i, at)
			}
			if n := fmt.Sprint(i * 100); i > 0 && got.StatusMessage != n && got.StatusMessage != fmt.Sprint(i*100-1) {
				t.Errorf("snapshot %d is of touch %s, not of %s", i, got.StatusMessage, n)
			}
		}
		if got := next(t, w).StatusMessage; got != "999" {
			t.Errorf("the last is of touch %s", got)
		}
		idle(t, w, time.Minute)
		shut(t, s)
	})
}

func TestChangeDoesNotWaitForProgressAndBringsItAlong(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, nil)
		id := newTask(t, s)
		w := watch(t, s, id)
		next(t, w)
		s.Touch(id, "first", nil)
		next(t, w)
		s.Touch(id, "second", nil)
		started := time.Now()
		ask(t, s, id, `{"a":1}`)
		if got := next(t, w); got.StatusMessage != "second" || got.Status != InputRequired || time.Since(started) > 0 {
			t.Errorf("after %v: %+v", time.Since(started), got)
		}
		idle(t, w, time.Minute) // the change has brought the progress along
		s.Touch(id, "third", nil)
		next(t, w)
		s.Touch(id, "never seen", nil)
		started = time.Now()
		complete(t, s, id, nil)
		if got := next(t, w); got.Status != Completed || time.Since(started) > 0 {
			t.Errorf("after %v: %+v", time.Since(started), got)
		}
		over(t, w, io.EOF)
		shut(t, s)
	})
}

func TestChangeEndsAWaitForProgress(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, nil)
		id := newTask(t, s)
		w := watch(t, s, id)
		next(t, w)
		s.Touch(id, "first", nil)
		next(t, w)
		s.Touch(id, "second", nil)
		started := time.Now()
		go func() {
			time.Sleep(300 * time.Millisecond)
			complete(t, s, id, nil)
		}()
		if got := next(t, w); got.Status != Completed || time.Since(started) != 300*time.Millisecond {
			t.Errorf("after %v: %+v", time.Since(started), got)
		}
		shut(t, s)
	})
}
