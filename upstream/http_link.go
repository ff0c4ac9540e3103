package upstream

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// httpLink is Streamable HTTP, in both eras: every message is a POST, whose
// response carries the answer or a stream that ends with it. A server that
// cannot be reached fails the requests that meet it and nothing else: the link
// lasts until Rest or Close, or until the server has lost the session.
type httpLink struct {
	*posts
	tools *toolbox

	state     sync.Mutex
	session   string // of the initialize era; "" for none
	version   string // that initialize agreed on
	listening bool   // the stream for the server's own messages is wanted or there
	lost      bool   // the server does not know the session any more

	listenCtx  context.Context // of that stream
	stopListen context.CancelFunc

	overOnce, stopOnce sync.Once
}

// startHTTPConn makes a link; nothing is sent yet.
func (c *Client) startHTTPConn(h *httpClient) *conn {
	k := c.newConn()
	l := &httpLink{posts: newPosts(k, h)}
	l.post, l.tools = l.postNotice, newToolbox(c.opts.Log)
	l.listenCtx, l.stopListen = context.WithCancel(l.ctx)
	k.link = l
	return k
}

// request may find that the session has been lost since the request was given
// to it: it has not been sent.
func (l *httpLink) request(r *Request, m wire.Message) error {
	err := l.start(r, m, l.converse)
	if err != nil && l.isLost() && !r.repeated {
		return errMoved
	}
	return err
}

// notify keeps to itself what the stateless era has no use for over HTTP
// (revision 2026-07-28, Streamable HTTP, Sending Messages).
func (l *httpLink) notify(m wire.Message) error {
	if l.conn.era() == Stateless && m.Method() == "notifications/cancelled" {
		return nil
	}
	return l.tell(m, true)
}

// respond: clients of the stateless era send no responses (revision
// 2026-07-28, Streamable HTTP, Sending Messages).
func (l *httpLink) respond(q *question, m wire.Message) error {
	if l.conn.era() == Stateless {
		return nil
	}
	err := l.answer(q, m)
	if err != nil && l.isLost() {
		return errMoved
	}
	return err
}

// cancel ends the response's stream, which in the stateless era says all
// (revision 2026-07-28, Streamable HTTP, Cancellation). In the other one it
// says nothing, and the notice does (revision 2025-11-25, Transports).
func (l *httpLink) cancel(r *Request, notice wire.Message) error {
	if l.conn.era() == Stateless {
		notice = wire.Message{}
	}
	if !l.conn.remembers(r) || !l.dropLate(r, notice) {
		l.drop(r, notice)
	}
	return nil
}

func (l *httpLink) answered(r *Request, m wire.Message) wire.Message {
	switch {
	case r.Message.Method() == "initialize":
		l.state.Lock()
		defer l.state.Unlock()
		l.version, _ = wire.String(wire.Get(m.Result(), "protocolVersion"))
	case l.conn.era() == Stateless:
		return l.tools.answered(r, m)
	}
	return m
}

// hold: over HTTP nothing is gathered.
func (l *httpLink) hold(bool) {}

// stop takes leave of the server, and ends what still runs.
func (l *httpLink) stop(ctx context.Context) {
	l.stopOnce.Do(func() {
		l.conn.client.retire(l.conn)
		l.close()
		l.leave(ctx)
		l.end()
		l.work.Wait()
		l.overOnce.Do(l.over)
		l.http.transport.CloseIdleConnections()
	})
}

func (l *httpLink) over() {
	l.conn.client.dismiss(l.conn)
	l.conn.over(errClosed().with(Unknown))
	close(l.conn.done)
}

// retire says that the end of k is our doing.
func (c *Client) retire(k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.retired = true
}

// leave ends the session (revision 2025-11-25, Transports, Session
// Management). Whether the server cares is its own affair.
func (l *httpLink) leave(ctx context.Context) {
	session, _ := l.known()
	if session == "" || l.isLost() {
		return
	}
	grace := l.conn.client.opts.CloseGrace
	if grace == 0 {
		grace = time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	resp, err := l.http.do(ctx, httpCall{method: http.MethodDelete, url: l.http.endpoint, header: l.sessionHeaders(acceptBoth)})
	if err != nil {
		l.conn.log.Debug().Err(err).Msg("the upstream server could not be told that its session is over")
		return
	}
	drop(resp)
}

// lose ends the session that the server does not know any more: later requests
// open a new one. Streams that are still open go on until they end. The order
// counts: whoever finds the link closed must not find it in use.
func (l *httpLink) lose() {
	l.overOnce.Do(func() {
		l.conn.log.Warn().Msg("the upstream server has lost the session")
		l.conn.client.dismiss(l.conn)
		l.state.Lock()
		l.lost = true
		l.state.Unlock()
		l.close()
		l.stopListen()
		l.conn.client.linger(l.posts)
		l.conn.gone()
		close(l.conn.done)
	})
}

func (l *httpLink) isLost() bool {
	l.state.Lock()
	defer l.state.Unlock()
	return l.lost
}

// known is what initialize has brought.
func (l *httpLink) known() (session, version string) {
	l.state.Lock()
	defer l.state.Unlock()
	return l.session, l.version
}
