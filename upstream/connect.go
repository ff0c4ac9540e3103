package upstream

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
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
// order, before any later one, or get the error. A session over HTTP that was
// lost meanwhile is opened once more: the requests are none the worse for it.
func (c *Client) settle(try *attempt, k *conn, err error) {
	for reopened := false; ; {
		if err == nil && c.hasEnded(k) && c.opts.URL != "" && !reopened {
			reopened = true
			k, err = c.open(k)
		}
		batch := c.nextBatch(try, k, err)
		if batch == nil {
			return
		}
		k.writeAll(batch)
	}
}

// nextBatch returns requests to write on k. Where there are none, or k is of no
// use, it ends the attempt.
func (c *Client) nextBatch(try *attempt, k *conn, err error) []*Request {
	c.mu.Lock()
	if err == nil && k.ended {
		err = errGone()
	}
	batch := c.waiting
	c.waiting = nil
	if err == nil && len(batch) > 0 {
		k.enlistAllLocked(batch)
		c.mu.Unlock()
		return batch
	}
	rest := c.finishLocked(try, k, err)
	c.mu.Unlock()
	refuse(batch, err)
	if rest {
		c.Rest()
	}
	return nil
}

func (k *conn) enlistAllLocked(batch []*Request) {
	for _, r := range batch {
		if !r.plain() {
			k.enlistLocked(r)
		}
	}
}

func (c *Client) hasEnded(k *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return k.ended
}

func (k *conn) writeAll(batch []*Request) {
	for _, r := range batch {
		if r.plain() {
			k.notify(r.Message)
		} else {
			k.write(r, k.outgoing(r))
		}
	}
}

func (c *Client) finishLocked(try *attempt, k *conn, err error) (rest bool) {
	c.trying = nil
	c.idle.touch()
	try.err = err
	if err == nil {
		c.conn, try.desc = k, c.desc
	}
	close(try.done)
	return c.rest
}

func refuse(batch []*Request, err error) {
	var reason *Error
	if !errors.As(err, &reason) {
		reason = errHandshake("The upstream server could not be greeted: %v.", err)
	}
	for _, r := range batch {
		if !r.plain() {
			r.Reply(wire.Message{}, reason)
		}
	}
}

// open reaches the server, greets it and tells it what is listened to.
func (c *Client) open(previous *conn) (*conn, error) {
	if previous != nil {
		<-previous.done
	}
	reach := c.openProcess
	if c.opts.URL != "" {
		reach = c.openHTTP
	}
	k, err := reach()
	if err != nil {
		return nil, err
	}
	c.resubscribe(k)
	return k, nil
}

// openProcess starts the server's command. One that dies of the probe for the
// stateless era is started once more and spared it.
func (c *Client) openProcess() (*conn, error) {
	k, err := c.launch(c.startProcessConn, c.greet)
	if errors.Is(err, errDiedOfProbe) {
		k, err = c.launch(c.startProcessConn, c.initializeOrDiscover)
	}
	return k, err
}

// launch makes one run of the session, greeted as greet does it.
func (c *Client) launch(start func() (*conn, error), greet func(*conn) (Description, error)) (*conn, error) {
	if err := c.pause(); err != nil {
		return nil, err
	}
	k, err := start()
	if err != nil {
		return nil, err
	}
	desc, err := c.introduce(k, greet)
	if err == nil {
		c.noteGreeted(k, desc)
		k.learnTools()
		return k, nil
	}
	k.link.stop(c.ctx)
	return nil, err
}

// introduce greets the server, unless the client has been closed meanwhile:
// from adopt on Close knows of the run, before that it does not.
func (c *Client) introduce(k *conn, greet func(*conn) (Description, error)) (Description, error) {
	c.adopt(k)
	if c.ctx.Err() != nil {
		return Description{}, errClosed().with(NotDispatched)
	}
	desc, err := greet(k)
	if err != nil && c.ctx.Err() != nil {
		err = errClosed().with(NotDispatched)
	}
	return desc, err
}

func (c *Client) adopt(k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = k
}

func (c *Client) noteGreeted(k *conn, desc Description) {
	k.tasks = c.generationOf(desc)
	k.greeted.Store(&desc)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.greeted, c.desc = true, desc
	c.opts.Log.Info().Stringer("era", desc.Era).RawJSON("server", nameOf(desc)).Msg("upstream server is ready")
}

// nameOf is for the log, where a server says what it is in a line, and not
// whatever it likes.
func nameOf(desc Description) []byte {
	const most = 1000
	var line bytes.Buffer
	if len(desc.ServerInfo) > most || json.Compact(&line, desc.ServerInfo) != nil {
		return []byte("null")
	}
	return line.Bytes()
}
