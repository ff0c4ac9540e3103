package upstream

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// subscription is one subscriptions/listen request.
type subscription struct {
	listen       *Listen
	request      *Request
	acknowledged chan []byte // gets the filter that was agreed to, once
	failed       chan error  // gets why it has ended
	agreed       atomic.Bool
}

// listenStateless passes the wish on as it is, and waits for the server's
// acknowledgement.
func (c *Client) listenStateless(ctx context.Context, k *conn, l *Listen) ([]byte, error) {
	s := c.newSubscription(l)
	moved := c.opens(k, s)
	if moved == nil {
		return nil, errMoved
	}
	c.Send(s.request) // unless Unlisten has withdrawn it by now
	return s.await(ctx, moved)
}

func (c *Client) newSubscription(l *Listen) *subscription {
	s := &subscription{listen: l, acknowledged: make(chan []byte, 1), failed: make(chan error, 1)}
	s.request = &Request{
		Caller: l.Caller, Header: l.Header,
		Message: wire.Request(0, "subscriptions/listen", wire.Set(nil, "notifications", l.Filter)),
		Notify:  s.event,
		Reply:   func(m wire.Message, err *Error) { c.listenOver(s, m, err) },
	}
	if s.request.Header == nil {
		s.request.Header = c.forwarded()
	}
	return s
}

// opens returns nil where s is not to be sent: l is gone, or k is.
func (c *Client) opens(k *conn, s *subscription) (moved <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.listen.gone || c.conn != k {
		return nil
	}
	s.listen.request = s.request
	return s.listen.moved
}

func (s *subscription) await(ctx context.Context, moved <-chan struct{}) ([]byte, error) {
	select {
	case filter := <-s.acknowledged:
		return filter, nil
	case err := <-s.failed:
		select {
		case filter := <-s.acknowledged: // and then ended at once
			return filter, nil
		default:
			return nil, err
		}
	case <-moved:
		return nil, errMoved
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// event takes a notification of the subscription. The first acknowledgement is
// not the host's to see: it gets one of ours.
func (s *subscription) event(m wire.Message) {
	if m.Method() != "notifications/subscriptions/acknowledged" {
		s.listen.Notify(m)
		return
	}
	s.agreed.Store(true)
	select {
	case s.acknowledged <- wire.Get(m.Params(), "notifications"):
	default: // once is enough
	}
}

// listenOver takes the end of a subscription. Of one that another has followed
// the host hears nothing.
func (c *Client) listenOver(s *subscription, m wire.Message, err *Error) {
	s.failed <- listenEnded(m, err)
	switch {
	case err != nil && s.agreed.Load():
		c.relisten(s.listen, s.request)
	case err == nil && m.Err() == nil && c.isCurrent(s.listen, s.request):
		s.listen.Ended()
	}
}

// RefusedListen is the server's own error to a subscription: raw JSON.
type RefusedListen struct{ Object []byte }

func (e *RefusedListen) Error() string { return "the upstream server refused the subscription" }

func listenEnded(m wire.Message, err *Error) error {
	switch {
	case err != nil:
		return err
	case m.Err() != nil:
		return &RefusedListen{m.Err()}
	}
	return errHandshake("The upstream server ended the subscription before it acknowledged it.")
}

// tornDown takes the server's word that it has ended a subscription (revision
// 2026-07-28, Cancellation): the one use that servers may make of it.
func (k *conn) tornDown(m wire.Message) {
	id, err := strconv.ParseInt(string(wire.Get(m.Params(), "requestId")), 10, 64)
	if err != nil {
		return
	}
	if r := k.find(id); r != nil && r.Message.Method() == "subscriptions/listen" && k.take(id) != nil {
		r.Reply(wire.Result(m.ID(), []byte("{}")), nil)
	}
}

// subscriptionEvent hands a notification of an open listen request to it,
// without the id, which names our request and not the host's. What comes on
// the request's own stream need not name it.
func (k *conn) subscriptionEvent(origin *Request, m wire.Message) bool {
	n, err := strconv.ParseInt(string(wire.Lookup(m.Params(), "_meta", metaSubscription)), 10, 64)
	switch {
	case err == nil:
	case origin != nil && origin.Message.Method() == "subscriptions/listen":
		n = origin.id
	default:
		return false
	}
	if r := k.find(n); r != nil && r.Notify != nil {
		r.Notify(m.With(wire.Changes{Params: wire.DeleteIn(m.Params(), "_meta", metaSubscription)}))
	}
	return true
}
