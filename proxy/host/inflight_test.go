package host

import (
	"context"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// answered reports whether an answer is sent.
func answered(f *inflight, fl *flight) bool { return f.answer(fl, wire.Message{}) }

func nowhere(wire.Message) {}

func TestCancelledRequestIsNotAnswered(t *testing.T) {
	f := newInflight()
	flight := f.begin([]byte(`"a"`), nowhere)
	cancelled := 0
	f.cancellable(flight, stopping(func() { cancelled++ }, upstream.Unknown))
	f.cancel([]byte(`"\u0061"`), wire.Message{}) // the same id, spelled otherwise
	f.cancel([]byte(`"a"`), wire.Message{})
	if cancelled != 1 {
		t.Errorf("cancelled %d times, want once", cancelled)
	}
	if answered(f, flight) {
		t.Error("a reply was allowed after the cancellation")
	}
}

func TestAnsweredRequestIsNotCancelled(t *testing.T) {
	f := newInflight()
	flight := f.begin([]byte("1"), nowhere)
	f.cancellable(flight, stopping(func() { t.Error("cancelled after the answer") }, upstream.Unknown))
	if !answered(f, flight) || answered(f, flight) {
		t.Error("want exactly one reply")
	}
	f.cancel([]byte("1"), wire.Message{})
}

func TestIdsOfDifferentTypesAreDifferent(t *testing.T) {
	f := newInflight()
	number, text := f.begin([]byte("1"), nowhere), f.begin([]byte(`"1"`), nowhere)
	f.cancellable(number, stopping(func() {}, upstream.Unknown))
	f.cancel([]byte("1"), wire.Message{})
	if answered(f, number) || !answered(f, text) {
		t.Error(`cancelling 1 must not touch "1"`)
	}
}

func TestReusedIdBelongsToTheNewerRequest(t *testing.T) {
	f := newInflight()
	older, newer := f.begin([]byte("1"), nowhere), f.begin([]byte("1"), nowhere)
	if !answered(f, older) {
		t.Error("the older request was not answered")
	}
	f.cancellable(newer, stopping(func() {}, upstream.Unknown))
	f.cancel([]byte("1"), wire.Message{})
	if answered(f, newer) {
		t.Error("the newer request was answered after its cancellation")
	}
}

func TestWaitEndsWithTheLastAnswer(t *testing.T) {
	f := newInflight()
	waited := make(chan struct{})
	a, b := f.begin([]byte("1"), nowhere), f.begin([]byte("2"), func(wire.Message) {
		select {
		case <-waited:
			t.Error("the last answer was not out yet")
		default:
		}
	})
	go func() {
		defer close(waited)
		f.wait(t.Context())
	}()
	answered(f, a)
	answered(f, b)
	<-waited
	f.wait(context.Background()) // nothing left to wait for
}

func TestWhatIsGivenUpIsAnsweredAndCancelled(t *testing.T) {
	f := newInflight()
	var got []string
	call := f.begin([]byte("1"), func(m wire.Message) { got = append(got, string(m.Err())) })
	f.cancellable(call, stopping(func() { got = append(got, "cancelled") }, upstream.NotDispatched))
	f.begin([]byte("2"), func(wire.Message) { t.Error("what cannot be cancelled answers by itself") })
	f.giveUp(wire.Message{}, hostLeft)
	f.giveUp(wire.Message{}, hostLeft)
	if len(got) != 2 || got[0] != "cancelled" || string(wire.Lookup([]byte(got[1]), "data", "outcome")) != `"not_dispatched"` {
		t.Errorf("got %q", got)
	}
}
func TestACancelThatOvertakesItsRequestIsNotLost(t *testing.T) {
	f := newInflight()
	fl := f.begin([]byte("1"), func(wire.Message) { t.Error("it was answered") })
	f.cancel([]byte("1"), wire.Notification("notifications/cancelled", []byte(`{"reason":"r"}`)))
	var got []string
	f.cancellable(fl, func(notice wire.Message, _ func(upstream.Outcome)) { got = append(got, string(notice.Params())) })
	if len(got) != 1 || got[0] != `{"reason":"r"}` {
		t.Errorf("cancelled with %q", got)
	}
	if f.answer(fl, wire.Result([]byte("1"), []byte("{}"))) {
		t.Error("it can be answered")
	}
	f.cancel([]byte("1"), wire.Notification("notifications/cancelled", nil))
	if len(got) != 1 {
		t.Errorf("cancelled %d times", len(got))
	}
}

func TestACancelBehindTheAnswerDoesNothing(t *testing.T) {
	f := newInflight()
	fl := f.begin([]byte("1"), func(wire.Message) {})
	f.answer(fl, wire.Result([]byte("1"), []byte("{}")))
	f.withdraw(fl, wire.Notification("notifications/cancelled", nil))
	f.cancellable(fl, stopping(func() { t.Error("it was cancelled") }, upstream.Unknown))
}
