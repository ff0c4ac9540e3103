package taskstate

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatchThatBeginsAsTheTaskEndsMissesNothing(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	for range 50 {
		id := newTask(t, s)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { checkWatch(t, watch(t, s, id)) })
			wg.Go(func() { s.Touch(id, "x", nil) })
		}
		wg.Go(func() { s.SetInputs(context.Background(), id, []byte(`{"a":1}`)) })
		wg.Go(func() { complete(t, s, id, []byte("end")) })
		wg.Wait()
	}
	checkNoWatches(t, s)
}

// checkWatch follows a task that asks at most once to its end.
func checkWatch(t testing.TB, w *Watch) {
	asked, ended := 0, 0
	last := Task{}
	for {
		task, err := w.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || ended > 0 {
			t.Errorf("%+v, %v after %+v", task, err, last)
			return
		}
		if task.Status == InputRequired && last.Status != InputRequired {
			asked++
		}
		if task.Status.Terminal() {
			ended++
		}
		last = task
	}
	if asked > 1 || ended != 1 || string(last.Outcome) != "end" {
		t.Errorf("asked %d times, ended %d times, last %+v", asked, ended, last)
	}
}

func TestWatchSeesAnEndThatTheDiskRefusesOnce(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		s := open(t, dir, d.options())
		id := newTask(t, s)
		before := watch(t, s, id)
		next(t, before)
		d.free.Store(1 << 20)
		want := complete(t, s, id, []byte("x"))
		after := watch(t, s, id)
		same(t, want, next(t, before))
		d.free.Store(10 << 30)
		time.Sleep(2 * time.Second) // it is stored now
		same(t, want, next(t, after))
		over(t, before, io.EOF)
		over(t, after, io.EOF)
		shut(t, s)
	})
}

func TestWatchThatEndsEndsTheWaitOfNext(t *testing.T) {
	cause := errors.New("the host has gone")
	for name, c := range map[string]struct {
		end  func(s *Store, w *Watch, cancel context.CancelCauseFunc)
		want error
	}{
		"store closed": {func(s *Store, _ *Watch, _ context.CancelCauseFunc) { s.Close() }, ErrClosed},
		"watch closed": {func(_ *Store, w *Watch, _ context.CancelCauseFunc) { w.Close(); w.Close() }, io.EOF},
		"context":      {func(_ *Store, _ *Watch, cancel context.CancelCauseFunc) { cancel(cause) }, cause},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := open(t, dir, nil)
				id := newTask(t, s)
				w, other := watch(t, s, id), watch(t, s, id)
				next(t, w)
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				ended := make(chan error)
				go func() { _, err := w.Next(ctx); ended <- err }()
				synctest.Wait()
				c.end(s, w, cancel)
				if err := <-ended; err != c.want {
					t.Errorf("Next: %v, want %v", err, c.want)
				}
				next(t, other) // what waits is given even after the store is closed
				s.Touch(id, "x", nil)
				shut(t, s)
				w.Close()
				over(t, w, io.EOF)
				over(t, other, ErrClosed)
				checkNoWatches(t, s)
			})
		})
	}
}
