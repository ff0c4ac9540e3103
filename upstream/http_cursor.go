package upstream

import (
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// cursor is how far a stream was read, and when it may be taken up again
// (revision 2025-11-25, Transports, Resumability and Redelivery).
type cursor struct {
	last     string // event id; "" for none
	retry    time.Duration
	events   int  // that were messages
	failures int  // to get the stream again, one behind the other
	empty    bool // the stream that ended last had no message
}

const (
	firstRetry = time.Second
	// resumeTries failures, with the pauses between them, are three minutes: a
	// server has time to restart.
	resumeTries = 10
	// leastPause is between streams without any message, and grows between
	// tries that failed.
	leastPause = time.Second
)

// goesOn reports whether there is any use in asking for the rest.
func (c *cursor) goesOn() bool {
	return c.last != "" && c.retry <= maxRetry && c.failures < resumeTries
}

// wait is how long the server is left alone before it is asked again: never
// less than it has said itself.
func (c *cursor) wait() time.Duration {
	switch {
	case c.failures > 0:
		return max(c.retry, min(leastPause<<(c.failures-1), longestRetry))
	case c.empty:
		return max(c.retry, leastPause)
	}
	return c.retry
}

func (c *cursor) failed() { c.failures++ }

// ended notes the end of a stream that was before when it began. One that
// neither brought anything nor ended in good order is a failure.
func (c *cursor) ended(before cursor, orderly bool) {
	c.empty = c.events == before.events
	if orderly || !c.empty || c.last != before.last {
		c.failures = 0
	} else {
		c.failures++
	}
}

func (c *cursor) note(e wire.SSEEvent) {
	if e.ID != nil {
		c.last = string(e.ID)
	}
	if e.Retry >= 0 {
		c.retry = e.Retry
	}
}
