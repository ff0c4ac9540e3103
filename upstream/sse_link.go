package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// sseLink is the deprecated HTTP+SSE (revision 2024-11-05, Transports): all
// that the server says comes on one stream, on which it first names the
// endpoint that messages are posted to. The session ends with the stream.
type sseLink struct {
	*posts
	target *url.URL // set before anything is posted

	endpoint chan string   // gets one, from the stream
	ended    chan struct{} // closed when the stream is over
	why      *Error        // set before ended is closed

	overOnce, stopOnce sync.Once
}

func (c *Client) startSSEConn(h *httpClient) *conn {
	k := c.newConn()
	l := &sseLink{posts: newPosts(k, h), endpoint: make(chan string, 1), ended: make(chan struct{})}
	l.post = l.postNotice
	k.link = l
	l.work.Go(l.listen)
	return k
}

// greetSSE waits for the endpoint and opens the session.
func (c *Client) greetSSE(k *conn) (Description, error) {
	l := k.link.(*sseLink)
	ctx, cancel := k.limited(c.ctx, "the event stream")
	defer cancel()
	select {
	case named := <-l.endpoint:
		if err := l.aim(named); err != nil {
			return Description{}, err
		}
	case <-l.ended:
		return Description{}, l.why
	case <-ctx.Done():
		return Description{}, context.Cause(ctx)
	}
	return c.initialize(k)
}

// aim takes the endpoint that the server names. It must be the same server's:
// the messages carry credentials.
func (l *sseLink) aim(named string) error {
	target, err := l.http.endpoint.Parse(named)
	if err != nil {
		return l.http.errHTTP("upstream_http", "names an endpoint for messages that is no URL").with(NotDispatched)
	}
	if !sameOrigin(target, l.http.endpoint) {
		return l.http.errHTTP("upstream_redirected", "wants messages posted to another server, %s, which does not get them", place(target)).with(NotDispatched)
	}
	target.User, target.Fragment = nil, ""
	l.target = target
	return nil
}

func (l *sseLink) request(r *Request, m wire.Message) error  { return l.start(r, m, l.converse) }
func (l *sseLink) notify(m wire.Message) error               { return l.tell(m, true) }
func (l *sseLink) respond(q *question, m wire.Message) error { return l.answer(q, m) }
func (l *sseLink) hold(bool)                                 {}

func (l *sseLink) answered(_ *Request, m wire.Message) wire.Message { return m }

// cancel: the exchange is over as soon as the server has taken the request, so
// mostly there is nothing to end.
func (l *sseLink) cancel(r *Request, notice wire.Message) error {
	if l.drop(r, notice) || notice.Raw() == nil {
		return nil
	}
	return l.tell(notice, false)
}

// converse posts a request; its answer comes on the stream.
func (l *sseLink) converse(x *exchange) *Error {
	resp, err := l.http.do(x.ctx, httpCall{
		method: http.MethodPost, url: l.target, header: l.headers(x.request.Header), body: x.message.Raw(),
		once: x.isCall(), written: x.wrote,
	})
	if err != nil {
		return err
	}
	defer drop(resp)
	if resp.StatusCode/100 != 2 {
		return l.http.errStatus(resp, x.request.Header, readPiece(resp))
	}
	return nil
}

func (l *sseLink) headers(forwarded http.Header) http.Header {
	all := l.http.headers(forwarded, acceptBoth)
	all.Set("Content-Type", "application/json")
	return all
}

func (l *sseLink) postNotice(ctx context.Context, m wire.Message) *rebuff {
	forwarded := l.conn.client.forwarded()
	resp, err := l.http.do(ctx, httpCall{method: http.MethodPost, url: l.target, header: l.headers(forwarded), body: m.Raw(), once: true})
	if err != nil {
		return unsent(err)
	}
	defer drop(resp)
	if resp.StatusCode/100 != 2 {
		return l.http.rebuff(resp, forwarded, readPiece(resp))
	}
	return nil
}

// listen reads the one stream, for as long as the session lasts.
func (l *sseLink) listen() {
	l.why = l.stream()
	close(l.ended)
	if l.ctx.Err() == nil {
		l.overOnce.Do(func() {
			l.close()
			l.conn.client.linger(l.posts)
			l.over(l.why)
		})
	}
}

func (l *sseLink) stream() *Error {
	forwarded := l.conn.client.forwarded()
	resp, err := l.http.do(l.ctx, httpCall{method: http.MethodGet, url: l.http.endpoint, header: l.http.headers(forwarded, acceptStream)})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !isStream(resp) {
		return l.http.errStatus(resp, forwarded, readPiece(resp))
	}
	cause := l.events(wire.NewSSEReader(resp.Body, l.conn.client.opts.MessageBytes))
	return l.http.errHTTP("upstream_stream_cut", "ended the stream that is the session: %v", cause).with(Unknown)
}

func (l *sseLink) events(events *wire.SSEReader) error {
	for {
		event, err := events.Next()
		var tooLong *wire.TooLongError
		switch {
		case errors.As(err, &tooLong):
			l.conn.tooLong(nil, tooLong)
		case err != nil:
			return fmt.Errorf("%w", err)
		case event.Type == "endpoint":
			select {
			case l.endpoint <- string(event.Data):
			default: // the first one counts
			}
		case len(event.Data) > 0 && (event.Type == "" || event.Type == "message"):
			l.conn.text(nil, event.Data)
		}
	}
}

func (l *sseLink) stop(ctx context.Context) {
	l.stopOnce.Do(func() {
		l.conn.client.retire(l.conn)
		l.close()
		l.end()
		l.work.Wait()
		l.overOnce.Do(func() { l.over(errClosed().with(Unknown)) })
		l.http.transport.CloseIdleConnections()
	})
}

// over ends the session. What was posted and not answered never will be.
func (l *sseLink) over(why *Error) {
	l.conn.client.dismiss(l.conn)
	l.conn.log.Info().Str("why", why.Reason).Msg("upstream session ended")
	l.conn.over(why)
	l.end()
	close(l.conn.done)
}
