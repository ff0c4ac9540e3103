package upstream

import (
	"context"
	"strconv"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// listenStateless passes the wish on as it is.
func (c *Client) listenStateless(ctx context.Context, l *Listen) ([]byte, error) {
	acknowledged := make(chan []byte, 1)
	failed := make(chan error, 1)
	r := &Request{Caller: l.Caller, Message: wire.Request(0, "subscriptions/listen", wire.Set(nil, "notifications", l.Filter))}
	r.Notify = func(m wire.Message) {
		if m.Method() != "notifications/subscriptions/acknowledged" {
			l.Notify(m)
			return
		}
		select {
		case acknowledged <- wire.Get(m.Params(), "notifications"):
		default:
		}
	}
	r.Reply = func(m wire.Message, err *Error) {
		failed <- listenEnded(m, err)
		if err == nil && m.Err() == nil {
			l.Ended()
		}
	}
	c.mu.Lock()
	l.request = r
	c.mu.Unlock()
	c.Send(r)
	select {
	case filter := <-acknowledged:
		return filter, nil
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
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

// subscriptionEvent hands a notification of an open listen request to it,
// without the id, which names our request and not the host's.
func (k *conn) subscriptionEvent(m wire.Message) bool {
	meta := wire.Get(m.Params(), "_meta")
	id := wire.Get(meta, metaSubscription)
	if id == nil {
		return false
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return false
	}
	if r := k.find(n); r != nil && r.Notify != nil {
		r.Notify(bare(m, meta))
	}
	return true
}

func bare(m wire.Message, meta []byte) wire.Message {
	rest := wire.Delete(meta, metaSubscription)
	params := wire.Set(m.Params(), "_meta", rest)
	if string(rest) == "{}" {
		params = wire.Delete(m.Params(), "_meta")
	}
	return m.With(wire.Changes{Params: params})
}
