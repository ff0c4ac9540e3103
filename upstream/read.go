package upstream

import (
	"context"
	"errors"
	"strconv"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// read takes the server's messages in turn until its output ends, and then
// answers whatever is still open.
func (k *conn) read() {
	defer close(k.done)
	lines := wire.NewLineReader(k.proc.stdout, k.client.opts.MessageBytes)
	if more := k.client.opts.Handler.More; more != nil {
		lines.OnMore(more)
	}
	for {
		line, err := lines.Next()
		var tooLong *wire.TooLongError
		switch {
		case err == nil:
			k.line(line)
		case errors.As(err, &tooLong):
			k.tooLong(tooLong)
		default:
			k.end()
			return
		}
	}
}

// line skips what is no message: servers print banners, colours and logs to
// their standard output although they must not (revision 2026-07-28, stdio).
func (k *conn) line(line []byte) {
	m, err := wire.Parse(line)
	switch elements := wire.Elements(line); {
	case err == nil:
	case errors.Is(err, wire.ErrNotMessage) && len(elements) > 0: // a batch, as revision 2025-03-26 has them
		for _, element := range elements {
			k.line(element)
		}
		return
	default:
		k.skip(line, err)
		k.failOpen(m, err)
		return
	}
	k.trace("from upstream", line)
	k.receive(m)
}

func (k *conn) receive(m wire.Message) {
	switch {
	case m.IsResponse():
		k.response(m)
	case m.IsRequest():
		k.request(m)
	default:
		k.notification(m)
	}
}

func (k *conn) response(m wire.Message) {
	id, err := strconv.ParseInt(string(m.ID()), 10, 64)
	if err != nil {
		k.log.Warn().Bytes("id", m.ID()).Msg("the upstream server answered under an id that was never sent")
		k.failOpen(m, errForeignID)
		return
	}
	r := k.take(id)
	if r == nil {
		k.log.Debug().Int64("id", id).Msg("dropped a late answer of the upstream server")
		return
	}
	r.Reply(m, nil)
}

// request: servers of the stateless era send none (revision 2026-07-28,
// stdio); where nobody takes them, ping is answered and the rest refused.
func (k *conn) request(m wire.Message) {
	answer := func(response wire.Message) {
		if err := k.writeRaw(response.Rewrite(wire.Changes{ID: m.ID()})); err != nil {
			k.log.Warn().Err(err).Str("method", m.Method()).Msg("the upstream server did not take the answer to its request")
		}
	}
	if handle := k.client.opts.Handler.Request; handle != nil && k.era() == Initialize {
		handle(m, answer)
		return
	}
	if m.Method() == "ping" {
		answer(wire.Result(m.ID(), []byte("{}")))
		return
	}
	answer(wire.Failure(m.ID(), wire.Errorf(wire.CodeMethodNotFound, "The client cannot be asked %s.", m.Method())))
}

func (k *conn) notification(m wire.Message) {
	if m.Method() == "notifications/progress" {
		k.progress(m)
		return
	}
	switch {
	case k.era() == Initialize:
		k.client.publish(m)
	case m.Method() == "notifications/cancelled":
		k.tornDown(m)
		return
	case k.subscriptionEvent(m):
		return
	}
	if handle := k.client.opts.Handler.Notification; handle != nil {
		handle(m)
	}
}

// progress belongs to the request that it names, if that is still open: none
// may follow the answer (revision 2026-07-28, Progress).
func (k *conn) progress(m wire.Message) {
	token, err := strconv.ParseInt(string(wire.Get(m.Params(), "progressToken")), 10, 64)
	if err != nil {
		return
	}
	if r := k.find(token); r != nil && r.Notify != nil {
		r.Notify(m)
	}
}

// end runs when the server's output has ended. The process may still be there,
// deaf and dumb: it is stopped, and its descendants with it.
func (k *conn) end() {
	k.client.dismiss(k)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		k.proc.stop(context.Background())
	}()
	report := k.proc.exit() // before what it left behind is gone too
	k.log.Info().Str("status", report.Status).Int("skipped_lines", k.skipped).Msg("upstream server ended")
	for _, r := range k.drain() {
		r.Reply(wire.Message{}, k.client.endOf(report))
	}
	if lost := k.client.opts.Handler.Lost; lost != nil {
		lost()
	}
	<-stopped
	k.out.Close()
}

func (c *Client) endOf(report exitReport) *Error {
	if c.ctx.Err() != nil {
		return errClosed().with(Unknown)
	}
	return errExited(report).with(Unknown)
}

// dismiss takes the connection out of use: later requests wait for a new one.
func (c *Client) dismiss(k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.ended = true
	if c.conn == k {
		c.conn = nil
	}
	c.history.ended(k)
}

func (k *conn) drain() (open []*Request) {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	for id, r := range k.open {
		open = append(open, r)
		delete(k.open, id)
	}
	return open
}
