package e2e

import (
	"path"
	"sync"
	"testing"
)

// Whatever a host of these tests receives is held against the published schemas
// of e2e/schema, unless its test is among the breakers.

// breakers are the tests in which a peer breaks the schemas on purpose, as
// path.Match reads them, and how it does. One in which nothing breaks them fails.
var breakers = map[string]string{
	"TestConversations/*/initialize/server-asks-and-is-refused": "the fixture asks for sampling with the params of an elicitation",
}

// judged is the length in bytes of the longest line that is held against them.
const judged = 1 << 20

// breaker is a test of breakers while it runs.
type breaker struct {
	mu    sync.Mutex
	broke bool
}

var running sync.Map // of *breaker, by the name of the test

// excused returns the breaker that the test is, nil if it is none. The first
// host of a test asks first, so that the check runs after the end of them all.
func excused(t testing.TB) *breaker {
	how := breaks(t.Name())
	if how == "" {
		return nil
	}
	found, before := running.LoadOrStore(t.Name(), &breaker{})
	b := found.(*breaker)
	if !before {
		t.Cleanup(func() {
			running.Delete(t.Name())
			if !b.broke {
				t.Errorf("nothing broke the schemas (%s): delete the test from breakers", how)
			}
		})
	}
	return b
}

// breaks says how a test breaks the schemas, "" if it may not.
func breaks(test string) string {
	for pattern, how := range breakers {
		if ok, _ := path.Match(pattern, test); ok {
			return how
		}
	}
	return ""
}

// judgeLine does nothing in benchmarks, which would measure it. h.mu is held.
func (h *host) judgeLine(line string) {
	if _, benchmark := h.t.(*testing.B); benchmark || len(line) > judged {
		return
	}
	err := h.judge.Received([]byte(line))
	switch {
	case err == nil:
	case h.breaker != nil:
		h.breaker.note()
	default:
		h.t.Errorf("%v\nit was %s", err, cut(line))
	}
}

func (b *breaker) note() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broke = true
}
