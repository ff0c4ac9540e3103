package host

import (
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Why requests are given up at the end of a session, to follow "The request was
// given up: ".
const (
	hostLeft    = "the host closed its input, or ended the session."
	toldToEnd   = "the proxy was told to end (mcp-taskproxy stop, or a signal)."
	sessionOver = "its session has ended, by the client or for want of use."
)

// given is an open request that is given up. Its error says what became of the
// work, as soon as that is known.
type given struct {
	flight *flight
	cancel canceller
	once   sync.Once
}

// giveUp cancels whatever is unanswered and can be cancelled, and answers it with an
// error that says why.
func (f *inflight) giveUp(notice wire.Message, why string) {
	all := f.claim()
	known := make(chan struct{}, len(all))
	for _, g := range all {
		g.cancel(notice, func(work upstream.Outcome) {
			f.settle(g, why, work)
			known <- struct{}{}
		})
	}
	late := time.NewTimer(cancelGrace)
	defer late.Stop()
	for range all {
		select {
		case <-known:
		case <-late.C:
			for _, g := range all {
				f.settle(g, why, upstream.Unknown)
			}
			return
		}
	}
}

// claim has nobody else answer or cancel what is given up.
func (f *inflight) claim() (all []*given) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for fl := range f.open {
		if fl.cancel != nil && !fl.over {
			fl.over = true
			all = append(all, &given{flight: fl, cancel: fl.cancel})
		}
	}
	return all
}

// settle answers with nothing held, once.
func (f *inflight) settle(g *given, why string, work upstream.Outcome) {
	g.once.Do(func() {
		g.flight.send(wire.Failure(noID, givenUp(why, work)))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.removeLocked(g.flight)
	})
}

func givenUp(why string, work upstream.Outcome) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: "The request was given up: " + why + " " + work.Sentence(),
		Data:    map[string]any{"reason": "shutdown", "outcome": work},
	}
}
