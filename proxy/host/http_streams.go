package host

import (
	"net/http"
	"slices"
	"strconv"
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
	// refuse answers a question that no host will see.
	refuse func(question wire.Message)

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
	for _, dropped := range s.place(m) {
		method := dropped.Method()
		s.log.Warn().Str("method", method[:min(len(method), 100)]).Msg("dropped a message to a host that has no stream open")
		if dropped.IsRequest() {
			s.refuse(dropped)
		}
	}
}

// place returns what there is no place for.
func (s *streams) place(m wire.Message) (dropped []wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.candidatesLocked(m) {
		if a.notify(m) {
			return nil
		}
	}
	if s.closed {
		return []wire.Message{m}
	}
	s.waiting, s.size = append(s.waiting, m), s.size+len(m.Raw())
	for len(s.waiting) > maxKept || len(s.waiting) > 1 && s.size > maxKeptLen {
		s.size -= len(s.waiting[0].Raw())
		dropped, s.waiting = append(dropped, s.waiting[0]), slices.Delete(s.waiting, 0, 1)
	}
	return dropped
}

func (s *streams) candidatesLocked(m wire.Message) (candidates []*answer) {
	opened, asked := slices.Clone(s.opened), slices.Clone(s.asked)
	slices.Reverse(opened) // the newest first
	slices.Reverse(asked)
	if isOfTask(m) { // of no request that is open
		return append(opened, asked...)
	}
	if m.IsRequest() || m.Method() == "notifications/message" {
		return append(asked, opened...)
	}
	if s.cut != nil {
		opened = append(opened, s.cut)
	}
	return append(opened, asked...)
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

// isOpen reports whether the host listens for news.
func (s *streams) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.opened) > 0
}

func (s *streams) openLocked(a *answer) {
	a.news, s.cut = true, nil
	s.opened = append(s.opened, a)
	for _, m := range s.waiting {
		a.notify(m)
	}
	s.waiting, s.size = nil, 0
}

// ask adds the stream of a request. That of tasks/result gets what has waited of
// tasks (revision 2025-11-25, Tasks, Input Required Status).
func (s *streams) ask(a *answer, m wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, a)
	if m.Method() != "tasks/result" {
		return
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(m wire.Message) bool {
		taken := isOfTask(m) && a.notify(m)
		if taken {
			s.size -= len(m.Raw())
		}
		return taken
	})
}

func isOfTask(m wire.Message) bool { return wire.Lookup(m.Params(), "_meta", metaRelatedTask) != nil }
