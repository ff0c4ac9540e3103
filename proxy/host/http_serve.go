package host

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

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
		a.moveLocked()
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
	a.moveLocked()
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
		case ended && len(batch) == 1 && out.asObject(status, batch[0]):
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
