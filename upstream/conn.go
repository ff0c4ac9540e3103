package upstream

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// conn is the protocol's side of one run of a session: ids, open requests,
// order and era. How its messages travel is its link's to know. It is made by
// an attempt to connect and ends when its link says so: with a server's
// process, with an HTTP session, or with Rest or Close.
type conn struct {
	client  *Client
	link    link // set before anything is sent or received
	log     zerolog.Logger
	started time.Time
	pid     int                         // of a child process; 0 for none
	greeted atomic.Pointer[Description] // nil until the server was greeted

	done chan struct{} // closed by the link when the session is gone

	order sync.Mutex // a request before the notice that cancels it

	logging logging
	tasks   generation  // of the server; set before greeted
	opened  atomic.Bool // notifications/initialized has been said
	support taskSupport

	// Under Client.mu.
	open      map[int64]*Request
	unclaimed map[int64]*Request // calls that were taken back and may have become tasks
	questions map[*question]bool
	homeless  []*question // their requests have just ended
	declared  int         // the state of Client.declares that the server was greeted with
	ended     bool
	retired   bool // stopped by us, for want of work

	skipped atomic.Int64 // texts that were no messages
}

func (c *Client) newConn() *conn {
	return &conn{
		client: c, log: c.opts.Log, started: time.Now(),
		done: make(chan struct{}), open: map[int64]*Request{}, questions: map[*question]bool{}, unclaimed: map[int64]*Request{},
		logging: logging{set: unset},
	}
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
	k.client.nextID++
	r.conn, r.id = k, k.client.nextID
	k.open[r.id] = r
	k.logging.countLocked(r, 1)
	k.client.idle.begin()
}

func (k *conn) takeLocked(id int64) *Request {
	r := k.open[id]
	if r != nil {
		delete(k.open, id)
		k.dropQuestionsLocked(r)
		k.logging.countLocked(r, -1)
		k.client.idle.end()
		if r.follow != nil {
			r.follow.overLocked()
		}
	}
	return r
}

// take is for whoever has the answer: what has been answered with a task is
// open, but waits for none.
func (k *conn) take(id int64) *Request {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	if r := k.open[id]; r == nil || r.answered {
		return nil
	}
	return k.takeLocked(id)
}

// awaits reports whether the answer to r is still to come on k.
func (k *conn) awaits(r *Request) bool {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	return k.open[r.id] == r && !r.answered
}

func (k *conn) find(id int64) *Request {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	return k.open[id]
}

// fail answers r, unless somebody else has.
func (k *conn) fail(r *Request, reason *Error) {
	if k.take(r.id) != nil {
		r.Reply(wire.Message{}, reason)
	}
}

// write sends an enlisted request, unless it was taken back meanwhile. What
// cannot be queued was not dispatched.
func (k *conn) write(r *Request, m wire.Message) {
	switch err := k.queue(r, m); {
	case errors.Is(err, errMoved):
		k.client.again(k, r)
	case err != nil:
		k.fail(r, errNotTaken(err))
	}
}

// errMoved: the session is over, another one can have the request.
var errMoved = errors.New("the session is over")

func (k *conn) queue(r *Request, m wire.Message) error {
	k.order.Lock()
	defer k.order.Unlock()
	if k.find(r.id) != r || !k.levelled(r, m) || !k.supported(r, m) {
		return nil
	}
	m = k.asTask(r, m)
	r.written = true
	if k.client.opts.LogPayloads { // else the text need not be put together
		k.trace("to upstream", m.Raw())
	}
	return k.link.request(r, m)
}

func (k *conn) outgoing(r *Request) wire.Message {
	id := strconv.AppendInt(nil, r.id, 10)
	if k.era() == Stateless {
		return k.client.statelessRequest(r, id, k.declaresTasks(r))
	}
	return initializeRequest(r, id)
}

func (k *conn) notify(m wire.Message) {
	k.trace("to upstream", m.Raw())
	k.told(k.link.notify(m), m)
	if m.Method() == "notifications/initialized" {
		k.opened.Store(true)
		k.learnTools()
	}
}

func (k *conn) told(err error, m wire.Message) {
	if err != nil {
		k.log.Warn().Err(err).Str("method", m.Label()).Msg("the upstream server did not take a notification")
	}
}

func (k *conn) trace(what string, text []byte) {
	if k.client.opts.LogPayloads {
		k.log.Info().Bytes("payload", text).Msg(what)
	}
}

// cancelled tells the server that nobody waits for the answer to r any more,
// if it has heard of r. The request must have been taken back: what was not
// written by then never is.
func (k *conn) cancelled(r *Request, notice wire.Message) (written bool) {
	if r.follow != nil {
		r.follow.cancel()
		return true
	}
	k.order.Lock()
	defer k.order.Unlock()
	if !r.written {
		return false
	}
	if notice.Raw() == nil { // a request of our own
		_ = k.link.cancel(r, notice)
		return true
	}
	params := wire.Set(notice.Params(), "requestId", strconv.AppendInt(nil, r.id, 10))
	if k.era() == Initialize {
		params = stripStatelessMeta(params)
	}
	notice = notice.With(wire.Changes{Params: params})
	k.trace("to upstream", notice.Raw())
	if err := k.link.cancel(r, notice); err != nil {
		k.log.Warn().Err(err).Msg("the upstream server could not be told of a cancellation")
	}
	return true
}
