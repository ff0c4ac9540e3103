package host

const (
	// lineRoom is how many requests of a channel may be waiting for the disk, or for a
	// host that does not read: then the next one is not read either.
	lineRoom = 1000
	// largeAtOnce bounds the memory of answers that are whole and not taken yet.
	largeAtOnce = 4
)

// apart runs f on a goroutine of its own, for what waits for the disk.
func (c *channel) apart(x exchange, f func()) {
	select {
	case c.line <- struct{}{}:
	case <-c.ctx.Done():
		x.fail(shuttingDown())
		return
	}
	spawned := c.spawn(func() {
		defer func() { <-c.line }()
		f()
	})
	if !spawned {
		<-c.line
		x.fail(shuttingDown())
	}
}

// inTurn is apart for what may have a large answer: it is made when few others wait
// for the host to take theirs. A host can ask for many in a few bytes, and read none.
func (c *channel) inTurn(x exchange, f func()) {
	c.apart(x, func() { c.placed(x, f) })
}

// placed waits for a place, and has it until f has answered.
func (c *channel) placed(x exchange, f func()) {
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
		f()
	case <-c.ctx.Done():
		x.fail(shuttingDown())
	}
}
