package upstream

import (
	"sync"
	"time"
)

// idle counts what is being asked of a client. It is under Client.mu.
type idle struct {
	busy  int
	since time.Time // the last end of something
}

func (i *idle) begin() { i.busy++ }

func (i *idle) end() {
	i.busy--
	i.touch()
}

// touch is for the end of what is not counted here.
func (i *idle) touch() { i.since = time.Now() }

// Keep says that something is about to be asked of the client: until release
// is called (any number of times) it is not idle.
func (c *Client) Keep() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keepLocked()
}

func (c *Client) keepLocked() (release func()) {
	c.kept++
	c.idle.begin()
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.kept--
		c.idle.end()
	})
}

// IdleFor is how long nothing has been asked of the client: no open or waiting
// request, no listen, no Keep; 0 while something is.
func (c *Client) IdleFor() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle.busy > 0 || len(c.waiting) > 0 || len(c.listens) > 0 || c.trying != nil {
		return 0
	}
	return time.Since(c.idle.since)
}
