package upstream

import (
	"slices"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// LogLevels are in ascending order of severity (revision 2025-11-25, Logging,
// Log Levels; the same in revision 2026-07-28). Nobody may change them.
var LogLevels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// unset stands for no level, in the place of an index in LogLevels.
const unset = -1

// levelLimit is how long a request waits for the session's level to be set.
const levelLimit = 10 * time.Second

// logging is the log level of a session of the initialize era, where it is set
// for all requests at once (revision 2025-11-25, Logging, Setting Log Level).
// It follows what those of a stateless-era host say for themselves (revision
// 2026-07-28, Logging, Per-request log level).
type logging struct {
	// Under Client.mu.
	open [8]int // open requests, by their level

	// Under conn.order.
	set     int      // what was asked for last
	asking  *Request // the logging/setLevel that is unanswered; nil for none
	limit   *time.Timer
	waiting []waiter // for asking
}

type waiter struct {
	request *Request
	message wire.Message
}

// level is what a stateless-era host wants to hear of r.
func (r *Request) level() int {
	if !r.Caller.Stateless || r.Caller.LogLevel == nil {
		return unset
	}
	name, _ := wire.String(r.Caller.LogLevel)
	return slices.Index(LogLevels[:], name)
}

func (l *logging) countLocked(r *Request, n int) {
	if level := r.level(); level != unset {
		l.open[level] += n
	}
}

// levelled sees to the session's level before r is written; conn.order is held.
// To a child process logging/setLevel goes just before r. Over HTTP, where
// nothing keeps order, r waits for the answer to it: then it returns false, and
// r is written later.
func (k *conn) levelled(r *Request, m wire.Message) bool {
	want := k.levelFor(r)
	switch {
	case want == unset, r.levelled:
		return true
	case k.client.opts.URL == "":
		if want != k.logging.set {
			k.setLevel(r, want)
		}
		return true
	}
	return !k.waits(r, m, want)
}

// waits keeps r back until the level is set, unless it is already.
func (k *conn) waits(r *Request, m wire.Message, want int) bool {
	l := &k.logging
	switch {
	case len(l.waiting) >= maxWaiting: // better early than never
		return false
	case l.asking == nil && (want == l.set || !k.setLevel(r, want)):
		return false
	case r.since.IsZero():
		r.since = time.Now()
	}
	l.waiting = append(l.waiting, waiter{r, m})
	return true
}

// levelFor is the most verbose level that an open request wants, if r wants
// one and the server has any.
func (k *conn) levelFor(r *Request) int {
	if r.level() == unset || k.era() != Initialize || wire.Get(k.greeted.Load().Capabilities, "logging") == nil {
		return unset
	}
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	return slices.IndexFunc(k.logging.open[:], func(n int) bool { return n > 0 })
}
