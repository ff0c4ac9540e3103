package upstream

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// listenStateless passes the wish on as it is, and waits for the server's
// acknowledgement.
func (c *Client) listenStateless(ctx context.Context, l *Listen) ([]byte, error) {
	acknowledged, failed := make(chan []byte, 1), make(chan error, 1)
	r := &Request{Caller: l.Caller, Message: wire.Request(0, "subscriptions/listen", wire.Set(nil, "notifications", l.Filter))}
	r.Header = l.Header
	if r.Header == nil {
		r.Header = c.forwarded()
	}
	var agreed atomic.Bool
	r.Notify = func(m wire.Message) {
		agreed.Store(true) // the acknowledgement comes first
		l.event(m, acknowledged)
	}
	r.Reply = func(m wire.Message, err *Error) {
		failed <- listenEnded(m, err)
		switch {
		case err == nil && m.Err() == nil:
			l.Ended()
		case err != nil && agreed.Load():
			c.relisten(l)
		}
	}
	if !c.opens(l, r) {
		return nil, errGone()
	}
	c.Send(r) // unless Unlisten has withdrawn it by now
	select {
	case filter := <-acknowledged:
		return filter, nil
	case err := <-failed:
		select {
		case filter := <-acknowledged: // and then ended at once
			return filter, nil
		default:
			return nil, err
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// event takes a notification of the subscription. The first acknowledgement is
// not the host's to see: it gets one of ours.
func (l *Listen) event(m wire.Message, acknowledged chan<- []byte) {
	if m.Method() != "notifications/subscriptions/acknowledged" {
		l.Notify(m)
		return
	}
	select {
	case acknowledged <- wire.Get(m.Params(), "notifications"):
	default: // once is enough
	}
}

func (c *Client) opens(l *Listen, r *Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.request = r
	return !l.gone
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
