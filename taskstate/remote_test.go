package taskstate

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
)

func TestRemoteOutlivesTheProcessAndNotTheTask(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	made := create(t, s, Task{Dispatched: true, Remote: []byte("first")})
	if got := get(t, s, made.ID); string(got.Remote) != "first" {
		t.Errorf("after Create: %q", got.Remote)
	}
	if err := s.SetRemote(t.Context(), made.ID, []byte("second")); err != nil {
		t.Fatal(err)
	}
	s.Touch(made.ID, "1/2", nil)
	touched := get(t, s, made.ID).UpdatedAt
	if err := s.SetRemote(t.Context(), made.ID, []byte("third")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := get(t, s, made.ID); string(got.Remote) != "third" || !got.UpdatedAt.Equal(touched) || got.StatusMessage != "1/2" {
			t.Errorf("%q, %q, updated %v, want %v", got.Remote, got.StatusMessage, got.UpdatedAt, touched)
		}
		shut(t, s)
		s = open(t, dir, nil)
	}
	if got := complete(t, s, made.ID, nil); got.Remote != nil {
		t.Errorf("Finish returned %q", got.Remote)
	}
	if got := get(t, s, made.ID); got.Remote != nil {
		t.Errorf("after the end: %q", got.Remote)
	}
}

func TestRemoteIsRefusedWhereItChangesNothing(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	running, ended := create(t, s, Task{}).ID, create(t, s, Task{}).ID
	complete(t, s, ended, nil)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		id     string
		remote []byte
		want   error
	}{
		{"ended", t.Context(), ended, []byte("x"), ErrFinished},
		{"unknown", t.Context(), rand.Text(), []byte("x"), ErrNotFound},
		{"malformed", t.Context(), "../x", []byte("x"), ErrNotFound},
		{"too large", t.Context(), running, make([]byte, maxText+1), ErrTooLarge},
		{"context", over, running, []byte("x"), context.Canceled},
	} {
		if err := s.SetRemote(c.ctx, c.id, c.remote); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := s.Create(t.Context(), Task{TTL: 1, Remote: make([]byte, maxText+1)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Create: %v", err)
	}
	if err := s.SetRemote(t.Context(), running, make([]byte, maxText)); err != nil {
		t.Errorf("the largest: %v", err)
	}
	shut(t, s)
	if err := s.SetRemote(t.Context(), running, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestRemoteIsNotStoredOnAFullDisk(t *testing.T) {
	var d disk
	s := open(t, t.TempDir(), d.options())
	id := create(t, s, Task{}).ID
	d.free.Store(0)
	if err := s.SetRemote(t.Context(), id, []byte("x")); !errors.Is(err, ErrNoSpace) {
		t.Errorf("%v", err)
	}
	if got := get(t, s, id).Remote; got != nil {
		t.Errorf("%q", got)
	}
	d.free.Store(10 << 30)
}

func TestResultThatIsAnErrorIsKnownAsOne(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	id := create(t, s, Task{IsError: true}).ID
	if get(t, s, id).IsError {
		t.Error("a task that runs has no result")
	}
	for _, status := range []Status{Failed, Cancelled} {
		if _, err := s.Finish(t.Context(), id, Outcome{Status: status, IsError: true}); err == nil {
			t.Errorf("a result with isError of a task that is %s", status)
		}
	}
	task, err := s.Finish(t.Context(), id, Outcome{Status: Completed, Payload: []byte("{}"), IsError: true})
	if err != nil || !task.IsError {
		t.Fatalf("%+v, %v", task, err)
	}
	shut(t, s)
	s = open(t, dir, nil)
	if got := get(t, s, id); !got.IsError || got.Status != Completed {
		t.Errorf("%+v", got)
	}
}
