package host

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// streams are the ways from the server to a host in a session of the
// initialize era: those that it opened by GET, and those of its requests
// (revision 2025-11-25, Transports, Listening for Messages from the Server).
// Each message goes out on one of them, and the newest are kept for a host
// that lost its connection.
type streams struct {
	log zerolog.Logger

	mu      sync.Mutex
	last    int       // counts the streams
	opened  []*answer // by GET, in their order
	asked   []*answer // of unanswered requests, in their order
	cut     *answer   // the newest of opened, when none is left
	past    []*answer // of all kinds, ended or cut: to be taken up again
	waiting []wire.Message
	size    int // bytes waiting
	closed  bool
}

const (
	maxStreams = 16       // by GET
	maxKept    = 1000     // messages that wait for a stream
	maxKeptLen = 4 << 20  // bytes in them
	maxPast    = 64       // streams
	maxPastLen = 16 << 20 // bytes in them
)

// send gives a message to the stream that it most likely belongs to: what is
// asked or logged to that of a request, news to one that the host opened for
// them or will open again. With no stream at all it waits for one.
func (s *streams) send(m wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.candidatesLocked(m) {
		if a.notify(m) {
			return
		}
	}
	s.keepLocked(m)
}

func (s *streams) candidatesLocked(m wire.Message) (candidates []*answer) {
	opened, asked := slices.Clone(s.opened), slices.Clone(s.asked)
	slices.Reverse(opened) // the newest first
	slices.Reverse(asked)
	if m.IsRequest() || m.Method() == "notifications/message" {
		return append(asked, opened...)
	}
	if s.cut != nil {
		opened = append(opened, s.cut)
	}
	return append(opened, asked...)
}

func (s *streams) keepLocked(m wire.Message) {
	if s.closed {
		return
	}
	s.waiting, s.size = append(s.waiting, m), s.size+len(m.Raw())
	for len(s.waiting) > maxKept || len(s.waiting) > 1 && s.size > maxKeptLen {
		s.log.Warn().Str("method", s.waiting[0].Method()).Msg("dropped a message to a host that has no stream open")
		s.size -= len(s.waiting[0].Raw())
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
}

// newAnswer is a stream of the session. Hosts of older revisions stumble over
// the event that makes it one that can be taken up again.
func (s *streams) newAnswer(r *http.Request) *answer {
	if r.Header.Get(mirror.HeaderVersion) < resumableFrom {
		return newAnswer("")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return newAnswer(strconv.Itoa(s.last))
}

const resumableFrom = "2025-11-25"

// open adds a stream by GET; it gets what has waited.
func (s *streams) open(a *answer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.opened) >= maxStreams {
		return false
	}
	s.openLocked(a)
	return true
}

func (s *streams) openLocked(a *answer) {
	a.news, s.cut = true, nil
	s.opened = append(s.opened, a)
	for _, m := range s.waiting {
		a.notify(m)
	}
	s.waiting, s.size = nil, 0
}

// ask adds the stream of a request.
func (s *streams) ask(a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, a)
}

// pastIt moves a stream that nobody reads any more to where it can be found
// again, if it has had events.
func (s *streams) pastIt(a *answer, streamed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := func(b *answer) bool { return a == b }
	s.opened, s.asked = slices.DeleteFunc(s.opened, is), slices.DeleteFunc(s.asked, is)
	if a.news && len(s.opened) == 0 {
		s.cut = a
	}
	if !streamed || slices.Contains(s.past, a) {
		return
	}
	s.past = append(s.past, a)
	for len(s.past) > maxPast || len(s.past) > 1 && sizeOf(s.past) > maxPastLen {
		s.past = slices.Delete(s.past, 0, 1)
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
	if err != nil || after < 0 {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Concat(s.opened, s.asked, s.past) {
		if a.name == name {
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

// openStream serves GET: a new stream, or one that was cut.
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
	out := h.responseWriter(w)
	a, after := g.streams.resume(r.Header.Get("Last-Event-ID"))
	if a == nil {
		a = g.streams.newAnswer(r)
		if !g.streams.open(a) {
			h.refuse(w, refuse(http.StatusConflict, wire.CodeInvalidRequest, "The session has %d streams open already, or is ending.", maxStreams))
			return
		}
		a.begin(out)
	}
	defer g.streams.pastIt(a, true)
	out.open()
	out.flush()
	a.serve(r, out, after, statusOK)
}

func statusOK([]byte) int { return http.StatusOK }
