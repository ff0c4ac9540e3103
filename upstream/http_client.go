package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// httpClient makes HTTP requests of one server and says of those that failed
// whether the server can have seen them.
type httpClient struct {
	endpoint  *url.URL
	static    http.Header // of the configuration
	transport *http.Transport
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
	endpoint.Fragment = ""
	return &httpClient{endpoint: endpoint, static: opts.Header, transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialCounted,
		TLSClientConfig:        opts.TLS.Clone(),
		TLSHandshakeTimeout:    dialLimit,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingLimit},
		MaxIdleConnsPerHost:    idlePeers,
		IdleConnTimeout:        idleLimit,
		MaxResponseHeaderBytes: headerSize,
		DisableCompression:     true, // it would hold back what a stream has sent
	}}, nil
}

func dialCounted(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialLimit}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: conn}, nil
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

// do sends call and follows redirects within the server. The caller closes the
// body of the response; ctx governs it too.
func (h *httpClient) do(ctx context.Context, call httpCall) (*http.Response, *Error) {
	for range redirects {
		resp, err := h.send(ctx, call)
		if err != nil || resp.StatusCode < 300 || resp.StatusCode > 399 {
			return resp, err
		}
		drop(resp)
		target, err := h.redirect(call, resp)
		if err != nil {
			return nil, err
		}
		call.url = target
	}
	return nil, h.errHTTP("upstream_redirected", "redirects without end").with(NotDispatched)
}

// redirect allows only what repeats the request as it is, to the same server:
// headers with credentials must not go elsewhere.
func (h *httpClient) redirect(call httpCall, resp *http.Response) (*url.URL, *Error) {
	target, err := call.url.Parse(resp.Header.Get("Location"))
	switch {
	case err != nil || resp.Header.Get("Location") == "":
		return nil, h.errHTTP("upstream_redirected", "answered with %s, but names no target that can be read", statusOf(resp)).with(NotDispatched)
	case !sameOrigin(target, h.endpoint):
		return nil, h.errHTTP("upstream_redirected", "redirects to another server, %s, which does not get the request and its credentials. "+
			"If that is meant, configure that URL", place(target)).with(NotDispatched)
	case resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect:
		return nil, h.errHTTP("upstream_redirected", "redirects to %s in a way that is not for this request (%s). "+
			"Configure the URL of the MCP endpoint itself", place(target), statusOf(resp)).with(NotDispatched)
	}
	target.Fragment, target.User = "", h.endpoint.User
	return target, nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// place is a URL without what may be secret in it.
func place(u *url.URL) string {
	return fmt.Sprintf("%.300s", (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
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
	if user := call.url.User; user != nil && req.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
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
	return h.errHTTP(reason, what, piece([]byte(err.Error()), call.header)).with(outcome)
}

func (h *httpClient) errHTTP(reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Text: fmt.Sprintf("The upstream server at %s "+format+".", append([]any{place(h.endpoint)}, args...)...)}
}
