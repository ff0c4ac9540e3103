package taskstate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ask(t testing.TB, s *Store, id, inputs string) {
	t.Helper()
	if err := s.SetInputs(context.Background(), id, []byte(inputs)); err != nil {
		t.Fatalf("SetInputs: %v", err)
	}
}

func same(t testing.TB, want, got Task) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestQuestionsOpenChangeAndClose(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, nil)
		id := create(t, s, Task{Request: []byte("q"), StatusMessage: "m", Progress: []byte("1")}).ID
		want := get(t, s, id)
		for _, inputs := range []string{`{"a":1}`, `{"a":1,"b":2}`, `{"b":2}`, "", `{"c":3}`} {
			time.Sleep(time.Second)
			ask(t, s, id, inputs)
			want.Status, want.Inputs, want.UpdatedAt = InputRequired, []byte(inputs), time.Now().UTC()
			if inputs == "" {
				want.Status, want.Inputs = Working, nil
			}
			same(t, want, get(t, s, id))
		}
		time.Sleep(time.Second)
		if end := complete(t, s, id, nil); end.Inputs != nil || get(t, s, id).Inputs != nil {
			t.Errorf("the end still asks %q", end.Inputs)
		}
		shut(t, s)
	})
}

func TestNothingToCloseIsNoActivity(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, nil)
		want := create(t, s, Task{})
		time.Sleep(time.Second)
		for _, inputs := range [][]byte{nil, {}} {
			if err := s.SetInputs(t.Context(), want.ID, inputs); err != nil {
				t.Errorf("%v", err)
			}
		}
		same(t, want, get(t, s, want.ID))
		shut(t, s)
	})
}

func TestStatusOfAnAskingTaskOutlivesTheProcessAndItsQuestionsDoNot(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	secret := strings.Repeat("what-is-your-name", 1000) // enough for the value log
	fromStart := create(t, s, Task{Status: InputRequired, Inputs: []byte(secret)})
	if got := get(t, s, fromStart.ID); got.Status != InputRequired || string(got.Inputs) != secret {
		t.Errorf("%s with %d bytes of inputs", got.Status, len(got.Inputs))
	}
	later := create(t, s, Task{})
	answered := create(t, s, Task{})
	ask(t, s, later.ID, secret)
	ask(t, s, answered.ID, secret)
	ask(t, s, answered.ID, "")
	shut(t, s)
	if patch(t, dir, "*", secret[:100], func([]byte, int) {}) {
		t.Error("the questions are on disk")
	}
	s = open(t, dir, nil)
	for id, want := range map[string]Status{fromStart.ID: InputRequired, later.ID: InputRequired, answered.ID: Working} {
		if got := get(t, s, id); got.Status != want || got.Inputs != nil {
			t.Errorf("%s with %d bytes of inputs, want %s", got.Status, len(got.Inputs), want)
		}
	}
	complete(t, s, later.ID, nil)
	ask(t, s, fromStart.ID, "")
}

func TestQuestionsThatCannotBeAskedChangeNothing(t *testing.T) {
	var d disk
	s := open(t, t.TempDir(), d.options())
	ended := create(t, s, Task{}).ID
	complete(t, s, ended, nil)
	task := create(t, s, Task{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	check := func(name string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check("ended task", s.SetInputs(t.Context(), ended, []byte("{}")), ErrFinished)
	check("ended task, nil", s.SetInputs(t.Context(), ended, nil), ErrFinished)
	check("unknown task", s.SetInputs(t.Context(), rand.Text(), []byte("{}")), ErrNotFound)
	check("no id", s.SetInputs(t.Context(), "../x", []byte("{}")), ErrNotFound)
	check("too large", s.SetInputs(t.Context(), task.ID, make([]byte, MaxPayload+1)), ErrTooLarge)
	check("ended context", s.SetInputs(gone, task.ID, []byte("{}")), context.Canceled)
	d.free.Store(1 << 20)
	check("full disk", s.SetInputs(t.Context(), task.ID, []byte("{}")), ErrNoSpace)
	same(t, task, get(t, s, task.ID))
	d.free.Store(10 << 30)
	for _, bad := range []Task{{Inputs: []byte("{}")}, {Status: InputRequired, Inputs: make([]byte, MaxPayload+1)}} {
		bad.TTL = time.Hour
		if got, err := s.Create(t.Context(), bad); err == nil {
			t.Errorf("Create took %s with %d bytes of inputs", got.Status, len(got.Inputs))
		}
	}
	shut(t, s)
	check("closed", s.SetInputs(t.Context(), task.ID, []byte("{}")), ErrClosed)
}

func TestQuestionLosesAgainstTheEnd(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	for range 20 {
		id := create(t, s, Task{Request: []byte("q")}).ID
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				inputs := fmt.Appendf(nil, `{"q":%d}`, i)
				if i%4 == 3 {
					inputs = nil
				}
				if err := s.SetInputs(context.Background(), id, inputs); err != nil && !errors.Is(err, ErrFinished) {
					t.Error(err)
				}
			})
			wg.Go(func() { s.Touch(id, fmt.Sprint(i), nil) })
		}
		wg.Go(func() { s.MarkDispatched(context.Background(), id) })
		wg.Go(func() { complete(t, s, id, []byte("x")) })
		wg.Wait()
		if got := get(t, s, id); got.Status != Completed || got.Inputs != nil || string(got.Outcome) != "x" {
			t.Fatalf("%+v", got)
		}
	}
}

// A Touch that comes while a question is written must stay, in memory and on disk.
func TestProgressAndQuestionsDoNotUndoEachOther(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	id := create(t, s, Task{Request: []byte("q")}).ID
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for i := range 50 {
			if err := s.SetInputs(context.Background(), id, fmt.Appendf(nil, `{"q":%d}`, i)); err != nil {
				t.Error(err)
			}
		}
		if err := s.MarkDispatched(context.Background(), id); err != nil {
			t.Error(err)
		}
	}()
	last := touchUntil(t, s, id, asked)
	for range 2 {
		got := get(t, s, id)
		if got.StatusMessage != last || got.Status != InputRequired || !got.Dispatched || got.Request != nil {
			t.Errorf("%+v", got)
		}
		shut(t, s)
		s = open(t, dir, nil)
	}
}

// touchUntil touches the task without a pause and returns its last message.
func touchUntil(t testing.TB, s *Store, id string, done <-chan struct{}) string {
	for i := 0; ; i++ {
		message := fmt.Sprint(i)
		s.Touch(id, message, nil)
		if got := get(t, s, id).StatusMessage; got != message {
			t.Errorf("touch %d is gone: %s", i, got)
		}
		select {
		case <-done:
			return message
		default:
		}
	}
}
