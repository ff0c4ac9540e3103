package host

import (
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

var change = wire.Notification("notifications/tools/list_changed", nil)

func streamsOf(refused *[]string) *streams {
	return &streams{refuse: func(m wire.Message) { *refused = append(*refused, string(m.ID())) }}
}

// Whoever asked would wait for ever.
func TestQuestionsThatNoStreamTakesAreRefused(t *testing.T) {
	var refused []string
	s := streamsOf(&refused)
	s.send(wire.Request(1, "elicitation/create", nil))
	for range maxKept {
		s.send(change)
	}
	if !slices.Equal(refused, []string{"1"}) || len(s.waiting) != maxKept {
		t.Errorf("refused %q, %d are waiting", refused, len(s.waiting))
	}
	s.close()
	s.send(wire.Request(2, "roots/list", nil))
	if !slices.Equal(refused, []string{"1", "2"}) {
		t.Errorf("refused %q", refused)
	}
}

func TestAQuestionLeftInAStreamWithoutANameGoesToAnother(t *testing.T) {
	s := streamsOf(nil)
	gone := newAnswer("")
	s.ask(gone, wire.Message{})
	s.send(wire.Request(7, "elicitation/create", nil))
	gone.detach(gone.attach(0))
	s.pastIt(gone, true)
	next := newAnswer("")
	if !s.open(next) || len(next.unread()) != 1 {
		t.Errorf("the next stream has %q", next.unread())
	}
}

func TestPastStreamsAreKeptInBoundedMemory(t *testing.T) {
	s := streamsOf(nil)
	r := httptest.NewRequest("GET", "/mcp", nil)
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	text := make([]byte, maxRewind)
	var cut []*answer
	for range 3 * maxPast {
		a := s.newAnswer(r)
		a.put(text, false, false)
		a.detach(a.attach(0))
		s.pastIt(a, true)
		cut = append(cut, a)
	}
	last := strconv.Itoa(3 * maxPast)
	if a, after := s.resume(last + "-1"); a != cut[len(cut)-1] || after != 1 {
		t.Errorf("the newest stream: %v, %d", a, after)
	}
	for _, a := range cut {
		for range 5 { // news for a client that is gone
			a.put(text, false, false)
		}
	}
	if size := sizeOf(cut); size > 2*maxPastLen+maxPast*maxRewind {
		t.Errorf("%d bytes are kept", size)
	}
	if a, _ := s.resume("1-0"); a != nil {
		t.Error("the oldest stream is still there")
	}
	for _, id := range []string{"", "-", "-0", "1", "x-1", last + "--1", last + "-x"} {
		if a, _ := s.resume(id); a != nil {
			t.Errorf("%q names a stream", id)
		}
	}
}
