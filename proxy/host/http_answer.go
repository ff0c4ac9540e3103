package host

import (
	"context"
	"slices"
	"sync"

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
	first    int           // number of events[0] in the stream, from 1 on
	events   [][]byte      // what is unwritten, and before it what may be asked for again
	written  int           // how many of events are written
	size     int           // bytes in events
	ended    bool          // nothing comes after events
	gone     bool          // nobody reads any more
	dropped  bool          // too much was unread
	attached int           // counts those who have served it: the last one writes
	moved    chan struct{} // closed when more is written, or nothing will be; nil if nobody waits
}

const (
	// maxUnread bounds what waits for a client that does not read, and
	// maxRewind what is kept for one that may come back, beyond one message;
	// in bytes.
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
	defer a.signal()
	most := maxUnread
	if a.gone {
		most = maxRewind
	}
	if len(a.events) > a.written && a.size+len(text) > most {
		a.giveUpLocked()
		return false
	}
	a.events, a.size, a.ended = append(a.events, text), a.size+len(text), last
	return true
}

func (a *answer) giveUpLocked() {
	a.gone, a.ended, a.dropped = true, true, true
	a.events, a.written, a.size = nil, 0, 0
	a.moveLocked()
}

// caughtUp waits until all that was put is being written, or nothing will be.
func (a *answer) caughtUp(ctx context.Context) {
	for moved := a.behind(); moved != nil; moved = a.behind() {
		select {
		case <-moved:
		case <-ctx.Done():
			return
		}
	}
}

// behind is nil where there is nothing to wait for.
func (a *answer) behind() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended || a.gone || a.written == len(a.events) {
		return nil
	}
	if a.moved == nil {
		a.moved = make(chan struct{})
	}
	return a.moved
}

func (a *answer) moveLocked() {
	if a.moved != nil {
		close(a.moved)
		a.moved = nil
	}
}

// giveUp forgets what was kept.
func (a *answer) giveUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.giveUpLocked()
	a.signal()
}

// hasGiven reports whether there was an event of that number, or is one.
func (a *answer) hasGiven(number int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return number < a.first+len(a.events)
}

func (a *answer) isDropped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dropped
}

// over reports whether there is nothing to be had from it any more.
func (a *answer) over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended && a.written == len(a.events)
}

// unread are the messages that nobody will get.
func (a *answer) unread() [][]byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.name != "" {
		return nil // whoever takes the stream up again gets them
	}
	return slices.Clone(a.events[a.written:])
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
	a.moveLocked()
	a.signal()
}

func (a *answer) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}
