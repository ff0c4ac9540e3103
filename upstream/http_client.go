package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// httpClient makes HTTP requests of one server and says of those that failed
// whether the server can have seen them.
type httpClient struct {
	endpoint    *url.URL
	secretParts []string    // of endpoint
	static      http.Header // of the configuration
	transport   *http.Transport
	moved       atomic.Pointer[url.URL] // where the endpoint's redirects lead; nil for nowhere
}

const (
	dialLimit = 10 * time.Second
	// idleLimit is less than the 5 s after which the servers of Node close an
	// idle connection: a request that meets the closing may be lost, and
	// nobody knows then whether it took effect.
	idleLimit  = 4 * time.Second
	idlePeers  = 64
	pingAfter  = 30 * time.Second
	pingLimit  = 15 * time.Second
	redirects  = 5
	maxTries   = 3
	headerSize = 1 << 20
)

func newHTTPClient(opts Options) (*httpClient, error) {
	endpoint, err := url.Parse(opts.URL)
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return nil, errHandshake("The URL of the upstream server is not one of http or https with a host. Correct the configuration.")
	}
	if endpoint.User != nil {
		return nil, errHandshake("The URL of the upstream server has a user or a password in it. Set an Authorization header in the configuration instead.")
	}
	endpoint.Fragment = ""
	return &httpClient{endpoint: endpoint, secretParts: secretPartsOf(endpoint), static: opts.Header, transport: newTransport(opts)}, nil
}

func newTransport(opts Options) *http.Transport {
	dial := opts.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialLimit}).DialContext
	}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialCounted(dial),
		TLSClientConfig:        opts.TLS.Clone(),
		TLSHandshakeTimeout:    dialLimit,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingLimit},
		MaxIdleConnsPerHost:    idlePeers,
		IdleConnTimeout:        idleLimit,
		MaxResponseHeaderBytes: headerSize,
		DisableCompression:     true, // it would hold back what a stream has sent
	}
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

func dialCounted(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: atLessCost(conn)}, nil
	}
}

func atLessCost(conn net.Conn) net.Conn {
	if tcp, ok := conn.(*net.TCPConn); ok {
		return wire.NewConn(tcp)
	}
	return conn
}

// httpCall is one HTTP request.
type httpCall struct {
	method string
	url    *url.URL
	header http.Header
	body   []byte // nil for none
	// once says that the server must not see it twice, whatever happens.
	once bool
	// written, if not nil, is called when the request has been written.
	written func()
}

// do sends call and follows redirects within the server, except for what must
// not be sent twice: that goes where others have been led before. The caller
// closes the body of the response; ctx governs it too.
func (h *httpClient) do(ctx context.Context, call httpCall) (*http.Response, *Error) {
	toEndpoint := call.url == h.endpoint
	if moved := h.moved.Load(); toEndpoint && moved != nil {
		call.url = moved
	}
	for range redirects {
		resp, err := h.send(ctx, call)
		if err != nil || resp.StatusCode < 300 || resp.StatusCode > 399 {
			return resp, err
		}
		drop(resp)
		if call.url, err = h.redirect(call, resp); err != nil {
			return nil, err
		}
		if toEndpoint {
			h.moved.Store(call.url)
		}
		if call.once {
			return nil, h.errHTTP("upstream_redirected", "redirects a request that must not be sent twice").with(Unknown)
		}
	}
	h.moved.Store(nil)
	return nil, h.errHTTP("upstream_redirected", "redirects without end").with(NotDispatched)
}

// drop lets the connection be used again, if little is left on it.
func drop(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
}

// send makes the request, and again if a connection that had been idle turns
// out to be dead before anything was written to it. The others that are idle
// are likely dead, too: a server that restarts takes all of them along.
func (h *httpClient) send(ctx context.Context, call httpCall) (*http.Response, *Error) {
	for try := 1; ; try++ {
		watch := &sending{written: call.written}
		req, err := h.build(ctx, call, watch)
		if err != nil {
			return nil, h.errHTTP("upstream_http", "cannot be asked: %v", err).with(NotDispatched)
		}
		resp, err := h.transport.RoundTrip(req)
		if err == nil {
			return resp, nil
		}
		dispatched := watch.dispatched()
		if try < maxTries && !dispatched && watch.stale() && ctx.Err() == nil {
			h.transport.CloseIdleConnections()
			continue
		}
		return nil, h.unreachable(ctx, call, err, dispatched)
	}
}

func (h *httpClient) build(ctx context.Context, call httpCall, watch *sending) (*http.Request, error) {
	if err := checkHeader(call.header); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(watch.trace(ctx), call.method, call.url.String(), nil)
	if err != nil {
		return nil, errors.New("the request cannot be formed") // the error would quote the URL
	}
	req.Header = call.header.Clone()
	if call.body != nil {
		req.Body, req.ContentLength = watch.body(call.body), int64(len(call.body))
	}
	if call.body != nil && !call.once {
		req.GetBody = func() (io.ReadCloser, error) { return watch.body(call.body), nil }
	}
	return req, nil
}

func (h *httpClient) unreachable(ctx context.Context, call httpCall, err error, dispatched bool) *Error {
	outcome, reason, what := NotDispatched, "upstream_unreachable", "cannot be reached: %s"
	if dispatched {
		outcome, reason, what = Unknown, "upstream_stream_cut", "ended the connection without an answer: %s"
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return h.errHTTP(reason, what, h.piece([]byte(err.Error()), call.header)).with(outcome)
}

func (h *httpClient) errHTTP(reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Text: fmt.Sprintf("The upstream server at %s "+format+".", append([]any{place(h.endpoint)}, args...)...)}
}
