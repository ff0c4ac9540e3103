package host

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// pastIt moves a stream that nobody reads any more to where it can be found
// again, if it has had events. Questions that are left in one that cannot be
// found again go to another.
func (s *streams) pastIt(a *answer, streamed bool) {
	s.mu.Lock()
	s.removeLocked(a)
	if streamed && a.name != "" && !slices.Contains(s.past, a) {
		s.past = append(s.past, a)
		s.evictLocked()
	}
	s.mu.Unlock()
	for _, text := range a.unread() {
		if m, err := wire.Parse(text); err == nil && m.IsRequest() {
			s.send(m)
		}
	}
}

func (s *streams) removeLocked(a *answer) {
	is := func(b *answer) bool { return a == b }
	s.opened, s.asked = slices.DeleteFunc(s.opened, is), slices.DeleteFunc(s.asked, is)
	if a.news && len(s.opened) == 0 {
		s.cut = a
	}
}

// evictLocked forgets the oldest streams, first of all those that have been
// written to their end.
func (s *streams) evictLocked() {
	for len(s.past) > maxPast || len(s.past) > 1 && sizeOf(s.past) > maxPastLen {
		i := max(slices.IndexFunc(s.past, (*answer).over), 0)
		s.past[i].giveUp()
		s.past = slices.Delete(s.past, i, i+1)
	}
}

func sizeOf(answers []*answer) (size int) {
	for _, a := range answers {
		a.mu.Lock()
		size += a.size
		a.mu.Unlock()
	}
	return size
}

// resume finds the stream that an event id names, and the event's number.
func (s *streams) resume(eventID string) (a *answer, after int) {
	name, number, _ := strings.Cut(eventID, "-")
	after, err := strconv.Atoi(number)
	if err != nil || after < 0 || name == "" {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Concat(s.opened, s.asked, s.past) {
		if a.name == name && a.hasGiven(after) {
			s.reopenLocked(a)
			return a, after
		}
	}
	return nil, 0
}

func (s *streams) reopenLocked(a *answer) {
	if a.news && !slices.Contains(s.opened, a) {
		s.openLocked(a)
	}
}

func (s *streams) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, a := range slices.Concat(s.opened, s.past) {
		a.end()
	}
}

// openStream serves GET: a new stream, or one that was cut (revision
// 2025-11-25, Transports, Resumability and Redelivery).
func (h *HTTP) openStream(w http.ResponseWriter, r *http.Request) {
	g, leave, refused := h.sessionOf(r)
	if refused != nil {
		h.refuse(w, refused)
		return
	}
	defer leave()
	if !accepts(r, "text/event-stream") {
		h.refuse(w, refuse(http.StatusNotAcceptable, wire.CodeInvalidRequest, "Accept must list text/event-stream."))
		return
	}
	a, after, refused := g.streams.find(r)
	if refused != nil {
		h.refuse(w, refused)
		return
	}
	defer g.streams.pastIt(a, true)
	g.session.talks.reached()
	out := h.responseWriter(w)
	if after == 0 {
		a.begin(out)
	}
	out.open()
	out.flush()
	a.serve(r, out, after, statusOK)
}

func (s *streams) find(r *http.Request) (a *answer, after int, refused *refusal) {
	if eventID := r.Header.Get("Last-Event-ID"); eventID != "" {
		if a, after = s.resume(eventID); a == nil {
			refused = refuse(http.StatusBadRequest, wire.CodeInvalidRequest, "Last-Event-ID names no stream that is kept: open a new one without it. What was still to come on it is lost.")
		}
		return a, after, refused
	}
	if a = s.newAnswer(r); !s.open(a) {
		refused = refuse(http.StatusConflict, wire.CodeInvalidRequest, "The session has %d streams open already, or is ending.", maxStreams)
	}
	return a, 0, refused
}

func statusOK([]byte) int { return http.StatusOK }
