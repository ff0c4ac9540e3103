package upstream

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// conn is one run of the server: a process, its requests and the goroutine
// that reads from it. It is made by an attempt to connect and ends when the
// server's output does.
type conn struct {
	client  *Client
	proc    *process
	out     *wire.LineWriter
	log     zerolog.Logger
	started time.Time
	greeted atomic.Pointer[Description] // nil until the server was greeted

	done chan struct{} // closed when the process is gone and all is answered

	order sync.Mutex // a request before the notice that cancels it

	// Under Client.mu.
	nextID  int64
	open    map[int64]*Request
	ended   bool
	retired bool // stopped by us, for want of work

	skipped int // lines that were no messages; reader only
}

func (c *Client) newConn(p *process) *conn {
	k := &conn{
		client: c, proc: p, out: wire.NewLineWriter(p.stdin), log: c.opts.Log,
		started: time.Now(), done: make(chan struct{}), open: map[int64]*Request{},
	}
	go k.read()
	return k
}

// era is the initialize era until the server was greeted: it is the one in
// which a server may speak before that.
func (k *conn) era() Era {
	if desc := k.greeted.Load(); desc != nil {
		return desc.Era
	}
	return Initialize
}

// enlistLocked gives r an id and expects its answer. The id is also the
// request's progress token, and names the subscription if it opens one.
func (k *conn) enlistLocked(r *Request) {
	k.nextID++
	r.conn, r.id = k, k.nextID
	k.open[r.id] = r
}

func (k *conn) takeLocked(id int64) *Request {
	r := k.open[id]
	delete(k.open, id)
	return r
}

func (k *conn) take(id int64) *Request {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	return k.takeLocked(id)
}

func (k *conn) find(id int64) *Request {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	return k.open[id]
}

// write sends an enlisted request, unless it was taken back meanwhile. What
// cannot be queued was not dispatched.
func (k *conn) write(r *Request, text []byte) {
	if err := k.queue(r, text); err != nil && k.take(r.id) != nil {
		r.Reply(wire.Message{}, errNotTaken(err))
	}
}

func (k *conn) queue(r *Request, text []byte) error {
	k.order.Lock()
	defer k.order.Unlock()
	if k.find(r.id) != r {
		return nil
	}
	r.written = true
	return k.writeRaw(text)
}

func (k *conn) outgoing(r *Request) []byte {
	id := strconv.AppendInt(nil, r.id, 10)
	if k.era() == Stateless {
		return statelessRequest(r, id)
	}
	return initializeRequest(r, id)
}

// writeRaw never waits: a server that does not read holds up nobody but those
// who want something of it.
func (k *conn) writeRaw(text []byte) error {
	k.trace("to upstream", text)
	return k.out.Offer(text)
}

func (k *conn) trace(what string, text []byte) {
	if k.client.opts.LogPayloads {
		k.log.Info().Bytes("payload", text).Msg(what)
	}
}

// cancelled tells the server that nobody waits for the answer to r any more,
// if it has heard of r.
func (k *conn) cancelled(r *Request, notice wire.Message) {
	k.order.Lock()
	defer k.order.Unlock()
	if !r.written {
		return
	}
	params := wire.Set(notice.Params(), "requestId", strconv.AppendInt(nil, r.id, 10))
	if k.era() == Initialize {
		params = stripStatelessMeta(params)
	}
	if err := k.writeRaw(notice.Rewrite(wire.Changes{Params: params})); err != nil {
		k.log.Warn().Err(err).Msg("the upstream server could not be told of a cancellation")
	}
}

// ownCall is a request of our own.
type ownCall struct {
	request *Request
	answer  chan answer // gets one
}

type answer struct {
	message wire.Message
	err     *Error
}

// call sends a request of our own and waits for the answer.
func (k *conn) call(ctx context.Context, method string, params []byte) (wire.Message, error) {
	own := k.start(method, params)
	select {
	case a := <-own.answer:
		if a.err != nil {
			return wire.Message{}, a.err
		}
		return a.message, nil
	case <-ctx.Done():
		k.take(own.request.id)
		return wire.Message{}, context.Cause(ctx)
	}
}

// start sends a request of our own, in the era in which it is written.
func (k *conn) start(method string, params []byte) ownCall {
	own := ownCall{&Request{Message: wire.Request(0, method, params)}, make(chan answer, 1)}
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
	k.write(own.request, own.request.Message.Rewrite(wire.Changes{ID: strconv.AppendInt(nil, own.request.id, 10)}))
	return own
}
