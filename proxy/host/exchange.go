package host

import (
	"bytes"
	"context"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// exchange is one request of a host and the way back to it.
type exchange struct {
	request wire.Message
	// reply takes the response under any id; the host gets it under its own.
	// A reply after the host's cancellation is dropped.
	reply func(wire.Message)
	// notify takes a notification that belongs to the request.
	notify func(wire.Message)
}

func (x exchange) fail(err *wire.Error) { x.reply(wire.Failure(nil, err)) }

func (x exchange) result(result []byte) { x.reply(wire.Result([]byte("0"), result)) }

// canceller is told that the host cancelled, by its own notification. Nil is
// for requests that are answered already or do not mind.
type canceller func(notice wire.Message)

// inflight are the unanswered requests of one channel, by the id as the host
// writes it.
type inflight struct {
	mu    sync.Mutex
	open  map[string]*flight
	empty chan struct{} // closed and dropped when open becomes empty; nil if nobody waits
}

type flight struct {
	key    string
	cancel canceller
	over   bool
}

func newInflight() *inflight { return &inflight{open: map[string]*flight{}} }

// begin notes a request before it is served. An id that is in use already goes
// to the newer request, as far as cancelling is concerned.
func (f *inflight) begin(id []byte) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	fl := &flight{key: keyOf(id)}
	f.open[fl.key] = fl
	return fl
}

// cancellable completes what begin noted. It and cancel are only called by the
// goroutine that reads from the host.
func (f *inflight) cancellable(fl *flight, cancel canceller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fl.cancel = cancel
}

// end reports whether the answer may still be sent: once, and not after a
// cancellation.
func (f *inflight) end(fl *flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl.over {
		return false
	}
	f.remove(fl)
	return true
}

// cancel ends the request of that id, if it is unanswered.
func (f *inflight) cancel(id []byte, notice wire.Message) {
	f.mu.Lock()
	fl := f.open[keyOf(id)]
	if fl == nil || fl.cancel == nil {
		f.mu.Unlock()
		return
	}
	f.remove(fl)
	f.mu.Unlock()
	fl.cancel(notice)
}

func (f *inflight) remove(fl *flight) {
	fl.over = true
	if f.open[fl.key] == fl {
		delete(f.open, fl.key)
	}
	if len(f.open) == 0 && f.empty != nil {
		close(f.empty)
		f.empty = nil
	}
}

// wait returns when nothing is unanswered or ctx has ended.
func (f *inflight) wait(ctx context.Context) {
	f.mu.Lock()
	if len(f.open) == 0 {
		f.mu.Unlock()
		return
	}
	if f.empty == nil {
		f.empty = make(chan struct{})
	}
	empty := f.empty
	f.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}

// cancelAll cancels whatever is unanswered.
func (f *inflight) cancelAll(notice wire.Message) {
	f.mu.Lock()
	var open []*flight
	for _, fl := range f.open {
		open = append(open, fl)
		f.remove(fl)
	}
	f.mu.Unlock()
	for _, fl := range open {
		if fl.cancel != nil {
			fl.cancel(notice)
		}
	}
}

// keyOf makes ids equal that are the same string in different spellings.
func keyOf(id []byte) string {
	if bytes.IndexByte(id, '\\') < 0 {
		return string(id)
	}
	s, _ := wire.String(id)
	return string(wire.Quote(s))
}
