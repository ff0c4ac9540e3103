package taskstate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// listAll pages through the whole list of an owner.
func listAll(t testing.TB, s *Store, owner string, limit int) (all []Task) {
	t.Helper()
	for cursor := ""; ; {
		tasks, next, err := s.List(owner, cursor, limit)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		if len(tasks) > limit || next != "" && len(tasks) == 0 {
			t.Fatalf("a page of %d, limit %d, next %q", len(tasks), limit, next)
		}
		all = append(all, tasks...)
		if cursor = next; cursor == "" {
			return all
		}
	}
}

func TestListShowsAllOfAnOwnersTasksAndNoneOfAnothers(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	var want []Task
	for i := range 7 {
		task := create(t, s, Task{Owner: "me", Tool: fmt.Sprint(i), Request: []byte("q"), Remote: []byte("far")})
		create(t, s, Task{Owner: []string{"", "m", "me2", strings.Repeat("me", 30<<10)}[i%4], Request: []byte("q")})
		switch i % 4 {
		case 1:
			task = complete(t, s, task.ID, make([]byte, 10<<10))
		case 2:
			s.Touch(task.ID, "1/2", []byte("1"))
			task = get(t, s, task.ID)
		case 3:
			if err := s.SetInputs(t.Context(), task.ID, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			task = get(t, s, task.ID)
		}
		task.Request, task.Inputs, task.Outcome = nil, nil, nil
		want = append(want, task)
	}
	slices.Reverse(want)
	for range 2 {
		for _, limit := range []int{1, 2, 3, 6, 7, 8, 100} {
			if diff := cmp.Diff(want, listAll(t, s, "me", limit)); diff != "" {
				t.Errorf("limit %d:\n%s", limit, diff)
			}
		}
		if got := listAll(t, s, "nobody", 3); len(got) != 0 {
			t.Errorf("another owner's: %+v", got)
		}
		shut(t, s)
		s = open(t, dir, nil)
	}
	if got := listAll(t, s, strings.Repeat("me", 30<<10), 1); len(got) != 1 {
		t.Errorf("%d tasks of the owner with the long name", len(got))
	}
}

func TestTasksMadeWhilePagingNeitherHideNorRepeatOthers(t *testing.T) {
	s := open(t, t.TempDir(), &Options{SweepEvery: time.Hour})
	var want []string
	for range 250 { // more than is read at once
		want = append(want, create(t, s, Task{Owner: "me", TTL: time.Hour}).ID)
	}
	slices.Reverse(want)
	var got []string
	for cursor := ""; ; {
		tasks, next, err := s.List("me", cursor, 30)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			got = append(got, task.ID)
		}
		if cursor = next; cursor == "" {
			break
		}
		create(t, s, Task{Owner: "me"})
		last := tasks[len(tasks)-1] // to which the cursor points
		remove(t, s, listKey("me", listPosition(last)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryTaskStaysListedWhileItEnds(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	var ids []string
	for range 40 {
		ids = append(ids, create(t, s, Task{Owner: "me"}).ID)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, id := range ids {
			if _, err := s.Finish(context.Background(), id, Outcome{Status: Completed}); err != nil {
				t.Error(err)
			}
		}
	})
	for ended := 0; ended < len(ids); {
		ended = 0
		tasks := listAll(t, s, "me", 1000)
		if len(tasks) != len(ids) {
			t.Fatalf("%d tasks listed, want %d", len(tasks), len(ids))
		}
		for _, task := range tasks {
			if task.Status.Terminal() {
				ended++
			}
		}
	}
	wg.Wait()
}

func TestExpiredTasksAreInNoList(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir, &Options{SweepEvery: time.Hour})
		kept := create(t, s, Task{Owner: "me"}).ID
		for range 3 {
			complete(t, s, create(t, s, Task{Owner: "me", TTL: time.Minute}).ID, nil)
		}
		for _, after := range []time.Duration{2 * time.Minute, 2 * time.Hour} { // before and after a sweep
			time.Sleep(after)
			if got := listAll(t, s, "me", 2); len(got) != 1 || got[0].ID != kept {
				t.Errorf("after %v: %+v", after, got)
			}
		}
		if n := countKeys(t, s); n != 3 { // header and both lists of the one that runs
			t.Errorf("%d keys, want 3", n)
		}
		shut(t, s)
	})
}

func TestDamagedTaskDoesNotKeepBackTheRestOfTheList(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	hurt, sound := create(t, s, Task{Owner: "me"}).ID, create(t, s, Task{Owner: "me"}).ID
	for _, id := range []string{hurt, sound} {
		complete(t, s, id, []byte("x"))
	}
	remove(t, s, headerKey(hurt))
	if got := listAll(t, s, "me", 1); len(got) != 1 || got[0].ID != sound {
		t.Errorf("%+v", got)
	}
}

func TestPageOfLongTextsIsCutShort(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	long := strings.Repeat("x", maxText)
	const n = 40
	for range n {
		create(t, s, Task{Owner: long, Upstream: long, Tool: long, StatusMessage: long})
	}
	tasks, next, err := s.List(long, "", 1000)
	if err != nil || next == "" || len(tasks) != maxPageBytes/(4*maxText) {
		t.Errorf("%d tasks, next %q, %v", len(tasks), next, err)
	}
	if all := listAll(t, s, long, 1000); len(all) != n {
		t.Errorf("%d tasks in all, want %d", len(all), n)
	}
}

func TestCursorThatListDidNotGiveIsRefused(t *testing.T) {
	s := open(t, t.TempDir(), &Options{Node: "n"})
	for range 3 {
		create(t, s, Task{Owner: "me"})
	}
	_, good, err := s.List("me", "", 1)
	if err != nil || good == "" {
		t.Fatalf("%q, %v", good, err)
	}
	for _, bad := range []string{"x", good[1:], good + "A", good + "=", good + strings.Repeat("A", 1<<20), strings.ToUpper(good), newCursor("me", nil), newCursor("me", []byte("12345678../../x"))} {
		if _, _, err := s.List("me", bad, 1); !errors.Is(err, ErrBadCursor) {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
	if _, _, err := s.List("you", good, 1); !errors.Is(err, ErrBadCursor) {
		t.Errorf("another owner's: %v", err)
	}
	shut(t, s)
	if _, _, err := s.List("me", good, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestLimitOfAListIsBroughtIntoRange(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	want := []Task{create(t, s, Task{Owner: "me"})}
	want = append([]Task{create(t, s, Task{Owner: "me"})}, want...)
	for limit, n := range map[int]int{-1: 1, 0: 1, 1: 1, 1 << 40: 2} {
		got, _, err := s.List("me", "", limit)
		if diff := cmp.Diff(want[:n], got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("limit %d: %v\n%s", limit, err, diff)
		}
	}
}
