package host

import (
	"slices"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// logWish is an unanswered request that asked for log messages (revision
// 2026-07-28, Logging).
type logWish struct {
	level  int // the least severe that it wants
	notify func(wire.Message)
}

// wantLogs notes the wish of a request, if it has one. Call over when the
// request is answered or cancelled, any number of times.
func (s *stateless) wantLogs(x exchange, level int) (over func()) {
	if level < 0 {
		return func() {}
	}
	wish := &logWish{level, x.notify}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = append(s.logs, wish)
	return sync.OnceFunc(func() { s.forgetLogs(wish) })
}

func (s *stateless) forgetLogs(wish *logWish) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.logs, wish); i >= 0 {
		s.logs = slices.Delete(s.logs, i, i+1)
	}
}

// log gives a log message to the newest request that wants it: the server does
// not say whose it is.
func (s *stateless) log(m wire.Message) {
	if wish := s.logWish(severityOf(m)); wish != nil {
		wish.notify(m)
	}
}

func (s *stateless) logWish(severity int) *logWish {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, wish := range slices.Backward(s.logs) {
		if severity >= wish.level {
			return wish
		}
	}
	return nil
}

// severityOf takes a level that nobody knows for the most severe.
func severityOf(m wire.Message) int {
	level, _ := wire.String(wire.Get(m.Params(), "level"))
	if i := slices.Index(upstream.LogLevels[:], level); i >= 0 {
		return i
	}
	return len(upstream.LogLevels)
}

// aside passes on what the server sent on the request's own stream: only what
// a stream may carry in this era, and log messages only if asked for.
func aside(x exchange, from sender, m wire.Message) {
	switch {
	case changes[m.Method()]:
	case m.Method() == "notifications/message" && (from.logLevel < 0 || severityOf(m) < from.logLevel):
	default:
		x.notify(m)
	}
}

// changes are notifications that reach hosts of this era by subscriptions
// only, or not at all.
var changes = map[string]bool{
	"notifications/tools/list_changed": true, "notifications/prompts/list_changed": true,
	"notifications/resources/list_changed": true, "notifications/resources/updated": true,
	"notifications/cancelled": true, "notifications/tasks/status": true,
	"notifications/elicitation/complete": true, // of an older revision only
}
