package taskstate

import (
	"errors"
	"testing"
)

func TestTaskOfAnotherOwnerIsNone(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	running, ended := create(t, s, Task{Owner: "me"}).ID, create(t, s, Task{Owner: "me"}).ID
	complete(t, s, ended, []byte("result"))
	for _, where := range []string{"in memory", "on disk"} {
		for _, id := range []string{running, ended} {
			if got, err := s.GetOwned("you", id); !errors.Is(err, ErrNotFound) || got.ID != "" {
				t.Errorf("%s, a stranger: %+v, %v", where, got, err)
			}
			if got, err := s.GetOwned("me", id); err != nil || got.ID != id {
				t.Errorf("%s, the owner: %+v, %v", where, got, err)
			}
		}
		settle(t, s)
	}
	if got, err := s.GetOwned("me", ended); err != nil || string(got.Outcome) != "result" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A result that cannot be read shows who tries to read it.
func TestResultOfAnotherOwnersTaskIsNotEvenRead(t *testing.T) {
	dir, hurt, _ := twoTasks(t)
	if !patch(t, dir, "*.vlog", "BEGIN"+hurt, func(b []byte, at int) { b[at+9000] ^= 0x40 }) {
		t.Fatal("nothing there to damage")
	}
	s := open(t, dir, nil)
	var damaged *DamagedError
	if _, err := s.GetOwned("HURT", hurt); !errors.As(err, &damaged) {
		t.Errorf("the owner: %v", err)
	}
	if _, err := s.GetOwned("you", hurt); !errors.Is(err, ErrNotFound) {
		t.Errorf("a stranger: %v", err)
	}
}

// Whose a task was cannot be told without its header. Nobody is told that there is no
// such task, for one of them had it.
func TestLostHeaderIsDamageForWhoeverHasTheID(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	id := create(t, s, Task{Owner: "me"}).ID
	complete(t, s, id, []byte("x"))
	remove(t, s, headerKey(id))
	for _, owner := range []string{"me", "you"} {
		var damaged *DamagedError
		if _, err := s.GetOwned(owner, id); !errors.As(err, &damaged) || damaged.ID != id || damaged.Dir != dir {
			t.Errorf("%s: %v", owner, err)
		}
	}
	if _, err := s.GetOwned("you", s.newID()); !errors.Is(err, ErrNotFound) {
		t.Errorf("an id that was never given: %v", err)
	}
}
