package upstream

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// ownCall is a request of our own.
type ownCall struct {
	request *Request
	answer  chan answer // gets one
}

// await waits until there is an answer, and leaves it there.
func (own ownCall) await(ctx context.Context, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-own.answer:
		own.answer <- a // it has room for one, and there is but one
	case <-timer.C:
	case <-ctx.Done():
	}
}

type answer struct {
	message wire.Message
	err     *Error
}

// call sends a request of our own and waits for the answer.
func (k *conn) call(ctx context.Context, method string, params []byte) (wire.Message, error) {
	ctx, cancel := k.limited(ctx, method)
	defer cancel()
	own := k.start(method, params)
	select {
	case a := <-own.answer:
		if a.err != nil {
			return wire.Message{}, a.err
		}
		return a.message, nil
	case <-ctx.Done():
		k.abandon(own)
		return wire.Message{}, context.Cause(ctx)
	}
}

// ownLimit is how long a request of our own may take over HTTP, where somebody
// else on the way may have forgotten it. A child process may take its time: it
// is there, or it ends.
const ownLimit = 2 * time.Minute

func (k *conn) limited(ctx context.Context, method string) (context.Context, context.CancelFunc) {
	if k.client.opts.URL == "" {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, ownLimit, fmt.Errorf("%s got no answer within %v", method, ownLimit))
}

// abandon forgets a request of our own: its answer is not wanted any more.
func (k *conn) abandon(own ownCall) { k.client.Cancel(own.request, wire.Message{}) }

// start sends a request of our own, in the era in which it is written.
func (k *conn) start(method string, params []byte) ownCall {
	own := ownCall{&Request{Message: wire.Request(0, method, params), Header: k.client.forwarded(), own: true}, make(chan answer, 1)}
	own.request.Reply = func(m wire.Message, err *Error) { own.answer <- answer{m, err} }
	k.client.mu.Lock()
	k.enlistLocked(own.request)
	ended := k.ended
	if ended {
		k.takeLocked(own.request.id)
	}
	k.client.mu.Unlock()
	if ended {
		own.answer <- answer{err: errGone()}
		return own
	}
	id := strconv.AppendInt(nil, own.request.id, 10)
	k.write(own.request, own.request.Message.With(wire.Changes{ID: id}))
	return own
}
