package host

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// answer is the HTTP response to one message of a host: a single JSON object,
// or a stream of events as soon as something is to be sent before the response
// or the response takes long. Any goroutine may give it messages and never
// waits; only the one that serves the request writes them.
type answer struct {
	// name makes the stream one that can be taken up again (revision
	// 2025-11-25, Transports, Resumability and Redelivery); empty for others.
	name string
	news bool          // opened by GET, for what belongs to no request
	wake chan struct{} // something has changed; room for one

	mu       sync.Mutex
	first    int      // number of events[0] in the stream, from 1 on
	events   [][]byte // what is unwritten, and before it what may be asked for again
	written  int      // how many of events are written
	size     int      // bytes in events
	ended    bool     // nothing comes after events
	gone     bool     // nobody reads any more
	attached int      // counts those who have served it: the last one writes
}

const (
	// maxUnread bounds what waits for a client that does not read, and
	// maxRewind what is kept of a stream that can be taken up again, beyond
	// one message; in bytes.
	maxUnread = 16 << 20
	maxRewind = 1 << 20
)

func newAnswer(name string) *answer {
	return &answer{name: name, wake: make(chan struct{}, 1), first: 1}
}

// notify is for what comes before the response. A question is not left to a
// client that may never come back; whoever asks would wait for ever.
func (a *answer) notify(m wire.Message) bool { return a.put(m.Raw(), false, m.IsRequest()) }

// put reports whether the message is on its way, or kept for a client that may
// come back. One with too much unread is given up.
func (a *answer) put(text []byte, last, urgent bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended || a.gone && (a.name == "" || urgent) {
		return false
	}
	a.trimLocked()
	if len(a.events) > a.written && a.size+len(text) > maxUnread {
		a.gone, a.ended, a.events, a.written, a.size = true, true, nil, 0, 0
	} else {
		a.events, a.size, a.ended = append(a.events, text), a.size+len(text), last
	}
	a.signal()
	return !a.gone
}

// trimLocked forgets what is written and will not be asked for again.
func (a *answer) trimLocked() {
	for a.written > 0 && (a.name == "" || a.size > maxRewind) {
		a.size -= len(a.events[0])
		a.events[0] = nil
		a.events = a.events[1:]
		a.first, a.written = a.first+1, a.written-1
	}
}

// end closes the stream behind what was put.
func (a *answer) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.signal()
}

func (a *answer) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// attach makes the caller the one who writes, from the event behind after on;
// whoever wrote before stops.
func (a *answer) attach(after int) (turn int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.attached++
	a.gone = false
	a.written = min(max(after+1-a.first, 0), len(a.events))
	a.signal()
	return a.attached
}

// detach is for a client that is gone. It may come back for what it missed.
func (a *answer) detach(turn int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.attached == turn {
		a.gone = true
	}
}

// take returns what is to be written next, and the number of its first event.
func (a *answer) take(turn int) (batch [][]byte, first int, ended, lost bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.attached != turn {
		a.signal() // for the one whose turn it is
		return nil, 0, true, false
	}
	batch, first = slices.Clone(a.events[a.written:]), a.first+a.written // put may forget them meanwhile
	a.written = len(a.events)
	return batch, first, a.ended, a.gone
}

// serve writes until the last message is written or the client is gone. A
// response that comes before anything else is one object, under status(it).
func (a *answer) serve(r *http.Request, out *responseWriter, after int, status func(text []byte) int) {
	turn := a.attach(after)
	defer a.detach(turn)
	tick := time.NewTicker(out.keepAlive)
	defer tick.Stop()
	for {
		batch, first, ended, lost := a.take(turn)
		switch {
		case lost:
			out.abort()
			return
		case ended && len(batch) == 1 && !out.streaming:
			out.object(status(batch[0]), batch[0])
			return
		case !a.write(out, batch, first, ended):
			return
		}
		select {
		case <-a.wake:
		case <-tick.C:
			a.begin(out)
			out.comment()
		case <-r.Context().Done():
			return
		}
	}
}

// write reports whether there is more to come.
func (a *answer) write(out *responseWriter, batch [][]byte, first int, ended bool) bool {
	if len(batch) > 0 || ended {
		a.begin(out)
	}
	for i, text := range batch {
		out.event(a.eventID(first+i), text)
	}
	if len(batch) > 0 {
		out.flush()
	}
	return !ended && out.err == nil
}

// begin opens the stream of events. One that can be taken up again says so at
// once, with an event that has an id and no data (revision 2025-11-25,
// Transports, Sending Messages to the Server).
func (a *answer) begin(out *responseWriter) {
	if !out.open() || a.name == "" {
		return
	}
	out.prime(a.eventID(0))
	out.flush()
}

func (a *answer) eventID(n int) string {
	if a.name == "" {
		return ""
	}
	return a.name + "-" + strconv.Itoa(n)
}
