package upstream

import (
	"testing"
	"time"
)

// patience is for what must happen but has no set time.
const patience = 20 * time.Second

func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
	}
}

// doing runs f and fails the test if it does not return.
func doing(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	within(t, what, done)
}

// yieldABit gives the other side of a poll a moment.
func yieldABit() { <-time.After(time.Millisecond) }
