package proxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// sameInstant is how often it is tried, divided by how many events there are.
const sameInstant = 12

func TestOfTwoOrThreeEndsTheFirstCounts(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		for _, all := range combinations() {
			for _, order := range orders(all) {
				at := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}[:len(order)]
				s := newScene(t, store, policyFor(order, at))
				s.plays(order, at)
				said, ended := expected(order)
				s.checkSaid(said...)
				if got := s.checkEnd(); got != ended {
					t.Errorf("the task is %s, want %s", got, ended)
				}
				if t.Failed() {
					t.Fatalf("in the order of %s", names(order))
				}
			}
		}
	})
}

// expected is what comes of events that happen one after the other.
func expected(order []event) (said []string, ended string) {
	said = []string{""}
	asked := true
	for _, e := range order {
		if e.moot && !asked {
			continue
		}
		if asked {
			said = e.hears()
		}
		if asked = false; e.ends != "" {
			return said, e.ends
		}
	}
	return said, "completed"
}

func (e event) hears() []string {
	if e.maybe {
		return []string{e.says, ""}
	}
	return []string{e.says}
}

func TestEndsAtTheSameInstantMakeOneEnd(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		for _, all := range combinations() {
			at := slices.Repeat([]time.Duration{100 * time.Millisecond}, len(all))
			for range sameInstant / len(all) {
				s := newScene(t, store, policyFor(all, at))
				s.plays(all, at)
				said, ended := possible(all)
				s.checkSaid(said...)
				if got := s.checkEnd(); !slices.Contains(ended, got) {
					t.Errorf("the task is %s, want one of %q", got, ended)
				}
				if t.Failed() {
					t.Fatalf("with %s at the same instant", names(all))
				}
			}
		}
	})
}

// possible is what may come of events at the same instant.
func possible(all []event) (said, ended []string) {
	goesOn := true
	for _, e := range all {
		said = append(said, e.hears()...)
		if e.ends != "" {
			ended = append(ended, e.ends)
		}
		if e.name == "death" { // met by an answer on its way to the server, before the stream's own end is
			ended = append(ended, "failed answer_undelivered")
		}
		goesOn = goesOn && e.ends == ""
	}
	if goesOn {
		ended = append(ended, "completed")
	}
	return said, ended
}

// combinations are all pairs and triples of events.
func combinations() (all [][]event) {
	for i := range events {
		for j := range i {
			all = append(all, []event{events[j], events[i]})
			for k := range j {
				all = append(all, []event{events[k], events[j], events[i]})
			}
		}
	}
	return all
}

// orders are all permutations.
func orders(of []event) (all [][]event) {
	if len(of) == 1 {
		return [][]event{of}
	}
	for i := range of {
		rest := slices.Concat(of[:i], of[i+1:])
		for _, order := range orders(rest) {
			all = append(all, append([]event{of[i]}, order...))
		}
	}
	return all
}

func names(all []event) string {
	var text []string
	for _, e := range all {
		text = append(text, e.name)
	}
	return fmt.Sprint(strings.Join(text, ", "))
}
