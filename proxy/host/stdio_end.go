package host

import (
	"context"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Finish refuses what the host still sends, ends subscriptions and waits for
// what is unanswered, until ctx ends; the rest is answered with an error and cancelled. Tasks are no part
// of this: their calls have been answered. A host that does not read can keep
// some of it from getting done: then it is left to Close.
func (s *Stdio) Finish(ctx context.Context) {
	s.closing.Store(true)
	why := toldToEnd
	if s.left.Load() {
		why = hostLeft
	}
	go func() {
		defer close(s.finished)
		s.stateless.endSubscriptions()
		s.inflight.wait(ctx)
		s.inflight.giveUp(wire.Notification("notifications/cancelled", []byte(`{"reason":"the client is gone"}`)), why)
		s.close()
	}()
	select {
	case <-s.finished:
	case <-ctx.Done():
		select {
		case <-s.finished:
		case <-time.After(cancelGrace):
		}
	}
}

// cancelGrace is for telling the server of cancellations.
const cancelGrace = 250 * time.Millisecond

// Close sends what is queued and ends the edge; later answers are dropped. If
// ctx ends first, as with a host that does not read any more, the goroutine
// that writes stays until the process ends. Call it after Finish.
func (s *Stdio) Close(ctx context.Context) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		if err := s.out.Close(); err != nil {
			s.Log.Debug().Err(err).Msg("the host did not take the last messages")
		}
		<-s.finished
	}()
	select {
	case <-written:
	case <-ctx.Done():
	}
}
