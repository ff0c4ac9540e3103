package upstream

import (
	"context"
	"errors"
	"strconv"
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
	desc    Description // set before the client hands the connection out

	done chan struct{} // closed when the process is gone and all is answered

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

// write sends an enlisted request. What cannot be queued was not dispatched.
func (k *conn) write(r *Request) {
	text := k.outgoing(r)
	if err := k.writeRaw(text); err == nil {
		return
	}
	if k.take(r.id) != nil {
		r.Reply(wire.Message{}, errStart(errors.New("its standard input is closed")))
	}
}

func (k *conn) outgoing(r *Request) []byte {
	id := strconv.AppendInt(nil, r.id, 10)
	if k.desc.Era == Stateless {
		return statelessRequest(r, id)
	}
	return initializeRequest(r, id)
}

func (k *conn) writeRaw(text []byte) error {
	if k.client.opts.LogPayloads {
		k.log.Debug().Bytes("message", text).Msg("to upstream")
	}
	return k.out.WriteLine(text)
}

// cancelled tells the server that nobody waits for the answer to id any more.
func (k *conn) cancelled(id int64, notice wire.Message) {
	params := wire.Set(notice.Params(), "requestId", strconv.AppendInt(nil, id, 10))
	if k.desc.Era == Initialize {
		params = stripStatelessMeta(params)
	}
	k.writeRaw(notice.Rewrite(wire.Changes{Params: params}))
}

// call sends a request of our own and waits for the answer.
func (k *conn) call(ctx context.Context, method string, params []byte) (wire.Message, error) {
	select {
	case a := <-k.start(method, params):
		if a.err != nil {
			return wire.Message{}, a.err
		}
		return a.message, nil
	case <-ctx.Done():
		return wire.Message{}, context.Cause(ctx)
	}
}

type answer struct {
	message wire.Message
	err     *Error
}

func (k *conn) start(method string, params []byte) <-chan answer {
	got := make(chan answer, 1)
	r := &Request{Message: wire.Request(0, method, params)}
	r.Reply = func(m wire.Message, err *Error) { got <- answer{m, err} }
	k.client.mu.Lock()
	k.enlistLocked(r)
	ended := k.ended
	if ended {
		k.takeLocked(r.id)
	}
	k.client.mu.Unlock()
	if ended {
		got <- answer{err: errExited(k.proc.exit())}
		return got
	}
	// The id is all that this request has to adapt: it is ours.
	if k.writeRaw(r.Message.Rewrite(wire.Changes{ID: strconv.AppendInt(nil, r.id, 10)})) != nil && k.take(r.id) != nil {
		got <- answer{err: errStart(errors.New("its standard input is closed"))}
	}
	return got
}
