package upstream

import (
	"context"
	"errors"
	"time"
)

// attempt is one try to connect, shared by all who wait for it.
type attempt struct {
	done chan struct{} // closed when desc and err are set
	desc Description
	err  error
}

// connectLocked joins the attempt that is under way or begins one. The client
// must not be closed.
func (c *Client) connectLocked() *attempt {
	if c.trying != nil {
		return c.trying
	}
	c.trying = &attempt{done: make(chan struct{})}
	try, previous := c.trying, c.last
	c.work.Go(func() {
		k, err := c.open(previous)
		c.settle(try, k, err)
	})
	return try
}

// settle ends an attempt: the requests that waited for it go out in their
// order, before any later one, or get the error.
func (c *Client) settle(try *attempt, k *conn, err error) {
	for {
		c.mu.Lock()
		if err == nil && k.ended {
			err = errExited(k.proc.exit()).with(NotDispatched)
		}
		batch := c.waiting
		c.waiting = nil
		if err != nil || len(batch) == 0 {
			c.finishLocked(try, k, err)
			c.mu.Unlock()
			refuse(batch, err)
			return
		}
		for _, r := range batch {
			k.enlistLocked(r)
		}
		c.mu.Unlock()
		for _, r := range batch {
			k.write(r)
		}
	}
}

func (c *Client) finishLocked(try *attempt, k *conn, err error) {
	c.trying = nil
	try.err = err
	if err == nil {
		c.conn, try.desc = k, k.desc
	}
	close(try.done)
}

func refuse(batch []*Request, err error) {
	var reason *Error
	if !errors.As(err, &reason) && err != nil {
		reason = errStart(err)
	}
	for _, r := range batch {
		r.Reply(zeroMessage, reason)
	}
}

// open starts the server and greets it. A server that dies of the probe for
// the stateless era is started once more and spared it.
func (c *Client) open(previous *conn) (*conn, error) {
	if previous != nil {
		<-previous.done
	}
	k, err := c.launch()
	if errors.Is(err, errDiedOfProbe) {
		c.setEra(Initialize)
		k, err = c.launch()
	}
	if err != nil {
		return nil, err
	}
	c.reopenListens(k)
	return k, nil
}

func (c *Client) launch() (*conn, error) {
	if err := c.pause(); err != nil {
		return nil, err
	}
	p, err := startProcess(c.opts.Command, processOptions{
		Log: c.opts.Log, Stderr: c.opts.Stderr, CloseGrace: c.opts.CloseGrace, TermGrace: c.opts.TermGrace,
	})
	if err != nil {
		c.noteFailedStart()
		return nil, errStart(err)
	}
	k := c.newConn(p)
	if c.adopt(k); c.ctx.Err() == nil {
		if k.desc, err = c.greet(k); err == nil {
			c.noteGreeted(k)
			return k, nil
		}
	}
	p.stop(c.ctx)
	<-k.done
	if c.ctx.Err() != nil {
		return nil, errClosed().with(NotDispatched)
	}
	return nil, err
}

func (c *Client) adopt(k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = k
}

func (c *Client) noteGreeted(k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.greeted, c.eraKnown, c.era = true, true, k.desc.Era
	c.opts.Log.Info().Stringer("era", k.desc.Era).Bytes("server", k.desc.ServerInfo()).Msg("upstream server is ready")
}

func (c *Client) setEra(e Era) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.eraKnown, c.era = true, e
}

// history remembers how the server's runs ended, to pace new starts. Its
// fields are under Client.mu.
type history struct {
	early   int // runs in a row that ended within earlyDeath
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

func (c *Client) noteFailedStart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history.early++
	c.history.lastEnd = time.Now()
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
		return context.Cause(c.ctx)
	}
}
