package upstream

import (
	"errors"
	"strconv"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// text takes one message, or one array of them, that the server sent; origin
// is the request on whose own stream it came, if it came on one. What is no
// message is skipped: servers print banners, colours and logs to their
// standard output although they must not (revision 2026-07-28, stdio).
func (k *conn) text(origin *Request, text []byte) {
	m, err := wire.Parse(text)
	var elements [][]byte // of a batch, as revision 2025-03-26 has them
	if errors.Is(err, wire.ErrNotMessage) {
		elements = wire.Elements(text)
	}
	switch {
	case err == nil:
	case len(elements) > 0:
		for _, element := range elements {
			k.element(origin, element)
		}
		return
	default:
		k.skip(text, err)
		k.failOpen(m, err)
		k.failBroken(text, err)
		return
	}
	k.trace("from upstream", text)
	k.receive(origin, m)
}

// element takes one message of a batch. A batch holds no other, and would cost
// a look at the whole text for each level that it is nested.
func (k *conn) element(origin *Request, text []byte) {
	if !wire.IsObject(text) {
		k.skip(text, wire.ErrNotMessage)
		return
	}
	k.text(origin, text)
}

func (k *conn) receive(origin *Request, m wire.Message) {
	switch {
	case m.IsResponse():
		k.response(origin, m)
	case m.IsRequest():
		k.request(origin, m)
	default:
		k.notification(origin, m)
	}
}

// response lets go of a request that was answered elsewhere than on its own
// HTTP stream, which the server may leave open.
func (k *conn) response(origin *Request, m wire.Message) {
	id, err := strconv.ParseInt(string(m.ID()), 10, 64)
	if err != nil {
		k.log.Warn().Bytes("id", m.ID()[:min(len(m.ID()), maxIDLogged)]).Msg("the upstream server answered under an id that was never sent")
		k.failOpen(m, errForeignID)
		return
	}
	if k.task(origin, id, m) {
		return
	}
	r := k.take(id)
	k.rehome()
	if r == nil {
		k.log.Debug().Int64("id", id).Msg("dropped a late answer of the upstream server")
		return
	}
	if r != origin {
		_ = k.link.cancel(r, wire.Message{}) // of which the server hears nothing
	}
	k.hearTools(r, m)
	r.Reply(k.link.answered(r, m), nil)
}

func (k *conn) notification(origin *Request, m wire.Message) {
	switch m.Method() {
	case "notifications/progress":
		k.progress(m)
		return
	case "notifications/tools/list_changed":
		k.learnTools()
	}
	switch {
	case k.taskNews(m):
		return
	case k.era() == Initialize:
		if m.Method() == "notifications/cancelled" && k.withdrawn(m) {
			return
		}
		k.client.publish(m)
	case m.Method() == "notifications/cancelled":
		k.tornDown(m)
		return
	case k.subscriptionEvent(origin, m):
		return
	}
	if origin = origin.principal(); origin != nil && origin.Aside != nil {
		origin.Aside(m)
	} else if handle := k.client.opts.Handler.Notification; handle != nil {
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

// over answers what is still open when the session has ended, and says that it
// has.
func (k *conn) over(reason *Error) {
	for _, r := range k.drain() {
		r.Reply(wire.Message{}, k.fate(r, reason))
	}
	k.gone()
}

// fate is reason for a request that the server may have seen; others will never
// be written.
func (k *conn) fate(r *Request, reason *Error) *Error {
	k.order.Lock()
	defer k.order.Unlock()
	if r.written {
		return reason
	}
	unseen := *reason
	unseen.Text = reason.plainText()
	return unseen.with(NotDispatched)
}

// gone says that the server, and what it had asked, is no more. One over HTTP
// that was never greeted was not there to begin with.
func (k *conn) gone() {
	lost := k.client.opts.Handler.Lost
	if lost != nil && (k.client.opts.URL == "" || k.greeted.Load() != nil) {
		lost()
	}
}

// dismiss takes the connection out of use: later requests wait for a new one.
func (c *Client) dismiss(k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.ended = true
	if c.conn == k {
		c.conn = nil
	}
	if c.opts.URL == "" || k.greeted.Load() != nil { // to ask a server over HTTP once more costs it nothing
		c.history.ended(k)
	}
}

func (k *conn) drain() (open []*Request) {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	for id, r := range k.open {
		if r.follow == nil || k.client.opts.URL == "" { // a task over HTTP may outlive the session, and ends by itself with the client
			open = append(open, k.takeLocked(id))
		}
	}
	return open
}
