package host

import (
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// What is being written stays whole while more is put behind it.
func TestEventsInHandStayWhole(t *testing.T) {
	a := newAnswer("")
	one, two, three := wire.Notification("one", nil), wire.Notification("two", nil), wire.Notification("three", nil)
	a.notify(one)
	a.notify(two)
	turn := a.attach(0)
	batch, _, _, _ := a.take(turn)
	a.notify(three)
	for i, want := range []wire.Message{one, two} {
		if got := string(batch[i]); got != string(want.Raw()) {
			t.Errorf("event %d became %q, want %s", i, got, want.Raw())
		}
	}
	a.end()
	if batch, _, ended, _ := a.take(turn); len(batch) != 1 || string(batch[0]) != string(three.Raw()) || !ended {
		t.Errorf("behind them came %q, ended %v", batch, ended)
	}
}

// A client that takes nothing is given up before it costs much, and what it
// has of the stream is not taken for all.
func TestUnreadIsBounded(t *testing.T) {
	a := newAnswer("1")
	turn := a.attach(0)
	megabyte := wire.Notification("x", []byte(`{"x":"`+strings.Repeat("x", 1<<20)+`"}`))
	taken := 0
	for a.notify(megabyte) && taken < 100 {
		taken++
	}
	if taken > maxUnread>>20+1 {
		t.Errorf("%d MB were taken for a client that reads nothing", taken)
	}
	if _, _, _, lost := a.take(turn); !lost {
		t.Error("the stream looks whole")
	}
}
