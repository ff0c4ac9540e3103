package upstream

import "time"

// history remembers how the server's runs ended, to pace new starts. Its
// fields are under Client.mu.
type history struct {
	early   int // runs in a row that ended within earlyDeath, and one more
	lastEnd time.Time
}

const (
	earlyDeath = 10 * time.Second
	firstPause = 100 * time.Millisecond
	longest    = 5 * time.Second
)

func (h *history) ended(k *conn) {
	if time.Since(k.started) > earlyDeath || k.retired {
		h.early = 0
	}
	h.endedEarly()
}

func (h *history) endedEarly() {
	h.early++
	h.lastEnd = time.Now()
}

// wait is how long the next start has to wait from now. The first repetition
// is free.
func (h *history) wait() time.Duration {
	if h.early < 2 {
		return 0
	}
	return time.Until(h.lastEnd.Add(min(firstPause<<min(h.early-2, 10), longest)))
}

// noteEarlyEnd is for a run that did not even begin.
func (c *Client) noteEarlyEnd() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history.endedEarly()
}

func (c *Client) pause() error {
	c.mu.Lock()
	wait := c.history.wait()
	c.mu.Unlock()
	timer := time.NewTimer(max(wait, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.ctx.Done():
		return errClosed().with(NotDispatched)
	}
}
