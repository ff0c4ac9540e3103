package host

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// exchange is one request of a host and the way back to it.
type exchange struct {
	request wire.Message
	// reply takes the response under any id; the host gets it under its own.
	// A reply after the host's cancellation is dropped: then it returns false.
	reply func(wire.Message) bool
	// notify takes a notification that belongs to the request, and in the
	// initialize era a question.
	notify func(wire.Message)
	// caughtUp waits until the host has taken what notify was given, or never
	// will; nil where notify itself does.
	caughtUp func(context.Context)
	// header is what came with the request over HTTP and is passed on.
	header http.Header
}

func (x exchange) fail(err *wire.Error) { x.reply(wire.Failure(noID, err)) }

func (x exchange) result(result []byte) bool { return x.reply(wire.Result(noID, result)) }

// noID stands where reply puts the request's own id.
var noID = []byte("0")

// canceller is told that the host cancelled, by its own notification, or is gone.
// Nil is for requests that are answered already or do not mind.
type canceller = proxy.Cancel

// stopping cancels what the core has no part in: what stop leaves of it is known.
func stopping(stop func(), work upstream.Outcome) canceller {
	return func(_ wire.Message, then func(upstream.Outcome)) {
		stop()
		if then != nil {
			then(work)
		}
	}
}

// inflight are the requests of one channel whose answers are not on their way
// yet, by the id as the host writes it.
type inflight struct {
	mu    sync.Mutex
	open  map[*flight]bool
	byID  map[string]*flight
	empty chan struct{}    // closed and dropped when open becomes empty; nil if nobody waits
	early map[string]early // cancels whose requests are still on their way; nil where none overtakes another
}

// early is the host's notice of a request that has not come yet.
type early struct {
	notice wire.Message
	at     time.Time
}

// maxEarlyNotices of them are kept, for earlyWait: a notice that comes too late is one for a
// request that is over, whose id no other has.
const (
	maxEarlyNotices = 64
	earlyWait       = 2 * time.Second
)

type flight struct {
	key    string
	send   func(response wire.Message)
	cancel canceller
	notice *wire.Message // the host cancelled before cancel was known
	over   bool          // answered or cancelled
}

func newInflight() *inflight {
	return &inflight{open: map[*flight]bool{}, byID: map[string]*flight{}}
}

// withEarly is for sessions over HTTP.
func (f *inflight) withEarly() *inflight {
	f.early = map[string]early{}
	return f
}

// begin notes a request before it is served; send takes the response. An id
// that is in use already goes to the newer request, as far as cancelling is
// concerned.
func (f *inflight) begin(id []byte, send func(response wire.Message)) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	fl := &flight{key: keyOf(id), send: send}
	f.open[fl], f.byID[fl.key] = true, fl
	if e, ok := f.early[fl.key]; ok && time.Since(e.at) < earlyWait {
		fl.notice = &e.notice
	}
	delete(f.early, fl.key)
	return fl
}

// keepLocked notes a cancel that has overtaken its request, as it can where each has
// a connection of its own.
func (f *inflight) keepLocked(key string, notice wire.Message) {
	if f.early == nil {
		return
	}
	for k, e := range f.early {
		if time.Since(e.at) >= earlyWait {
			delete(f.early, k)
		}
	}
	if len(f.early) < maxEarlyNotices {
		f.early[key] = early{notice, time.Now()}
	}
}

// cancellable completes what begin noted. The host may have cancelled already:
// over HTTP its notice comes on a connection of its own.
func (f *inflight) cancellable(fl *flight, cancel canceller) {
	f.mu.Lock()
	fl.cancel = cancel
	notice := fl.notice
	f.mu.Unlock()
	if notice != nil {
		f.withdraw(fl, *notice)
	}
}

// answer sends the response with nothing held, unless the request has been
// answered or cancelled before: then it returns false. Until it is sent the
// request counts as open.
func (f *inflight) answer(fl *flight, response wire.Message) bool {
	f.mu.Lock()
	again := fl.over
	fl.over = true
	f.mu.Unlock()
	if again {
		return false
	}
	fl.send(response)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removeLocked(fl)
	return true
}

// cancel ends the request of that id, if it is unanswered.
func (f *inflight) cancel(id []byte, notice wire.Message) {
	f.mu.Lock()
	fl := f.byID[keyOf(id)]
	if fl == nil {
		f.keepLocked(keyOf(id), notice)
	}
	f.mu.Unlock()
	if fl != nil {
		f.withdraw(fl, notice)
	}
}

func (f *inflight) withdraw(fl *flight, notice wire.Message) {
	f.mu.Lock()
	cancel := fl.cancel
	if fl.over || cancel == nil {
		fl.notice = &notice
		f.mu.Unlock()
		return
	}
	fl.over = true
	f.removeLocked(fl)
	f.mu.Unlock()
	cancel(notice, nil)
}

func (f *inflight) removeLocked(fl *flight) {
	delete(f.open, fl)
	if f.byID[fl.key] == fl {
		delete(f.byID, fl.key)
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

// keyOf makes ids equal that are the same string in different spellings.
func keyOf(id []byte) string {
	if bytes.IndexByte(id, '\\') < 0 {
		return string(id)
	}
	s, _ := wire.String(id)
	return string(wire.Quote(s))
}
