package runner

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/auth"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/host"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// idleConnection is how long a client may keep a connection that it does not
// use.
const idleConnection = 2 * time.Minute

// httpEdge is any number of hosts over HTTP.
type httpEdge struct {
	opts     *Listen
	listener net.Listener
	server   *http.Server
	host     *host.HTTP
	auth     *auth.Authenticator
	accepted chan error // one, when nothing is accepted any more
	log      zerolog.Logger
}

// runHTTP takes the address first: where it is taken nothing else needs to
// begin. A signal does not cut the graces short, as it is how this mode ends.
func runHTTP(ctx context.Context, opts Options) error {
	listener, err := listen(opts.Listen.Address)
	if err != nil {
		return err
	}
	defer listener.Close()
	return withCore(ctx, opts, func(core *proxy.Proxy) error {
		e, err := newHTTPEdge(ctx, listener, core, opts)
		if err != nil {
			core.Close(ctx)
			return err
		}
		defer e.auth.Close()
		return lead(ctx, context.WithoutCancel(ctx), e, core, opts.Log)
	})
}

func listen(address string) (*net.TCPListener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address or port with --listen", err)
	}
	return listener.(*net.TCPListener), nil
}

func newHTTPEdge(ctx context.Context, listener *net.TCPListener, core *proxy.Proxy, opts Options) (*httpEdge, error) {
	owners, err := newAuth(ctx, opts)
	if err != nil {
		return nil, err
	}
	e := &httpEdge{opts: opts.Listen, auth: owners, log: opts.Log, accepted: make(chan error, 1)}
	limited := limit(listener, opts.Listen.Connections)
	e.listener = limited
	options := edgeOptions(core, opts)
	options.NoList = e.opts.Auth.TokensFile == "" && e.opts.Auth.Issuer == "" // everybody is one owner
	e.host = host.NewHTTP(host.HTTPOptions{
		Options: options, Owner: ownerOf, Forward: forwarded(opts),
		Local: isLoopback(listener.Addr()), Origins: e.opts.Origins, Hosts: e.opts.Hosts,
		Node: opts.Node, Connections: e.opts.Connections, Sessions: e.opts.Sessions, SessionIdle: e.opts.SessionIdle,
	})
	e.server = &http.Server{
		Handler: bounded(e.routes(), e.opts.HeaderTimeout), ReadHeaderTimeout: e.opts.HeaderTimeout, IdleTimeout: idleConnection,
		MaxHeaderBytes: e.opts.HeaderBytes, ConnState: limited.note, ErrorLog: stdlog.New(warnings{opts.Log}, "", 0),
	}
	return e, nil
}

// warnings gives what package net/http has to say a level.
type warnings struct{ log zerolog.Logger }

func (w warnings) Write(line []byte) (int, error) {
	w.log.Warn().Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}

func (e *httpEdge) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(e.opts.Endpoint, e.host.Guard(e.auth.Middleware(e.host)))
	mux.Handle("/.well-known/oauth-protected-resource", e.auth.Metadata())
	mux.Handle("/.well-known/oauth-protected-resource/", e.auth.Metadata())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", e.ready)
	return mux
}

// bounded gives a body that nobody reads, behind a refusal, no more time than a
// head has: the server waits for the rest of it. Whoever reads a body sets the
// deadline anew.
func bounded(next http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit))
		}
		next.ServeHTTP(w, r)
	})
}

func (e *httpEdge) ready(w http.ResponseWriter, _ *http.Request) {
	if !e.host.Ready() {
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}

// forwarded are the headers of a host that the server gets.
func forwarded(opts Options) []string {
	if opts.ForwardAuthorization {
		return append([]string{"Authorization"}, opts.ForwardHeaders...)
	}
	return opts.ForwardHeaders
}

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

func (e *httpEdge) serve(ctx context.Context) error {
	go func() { e.accepted <- e.accept() }() // close waits for it
	select {
	case err := <-e.accepted:
		e.accepted <- err
		return err
	case <-ctx.Done():
		e.log.Info().Msg("told to end")
		return nil
	}
}

// accept returns when the listener is closed.
func (e *httpEdge) accept() (err error) {
	scheme := "http"
	if e.opts.TLSCert != "" {
		scheme = "https"
	}
	e.log.Info().Str("url", scheme+"://"+e.listener.Addr().String()+e.opts.Endpoint).Msg("listening")
	if e.opts.TLSCert != "" {
		err = e.server.ServeTLS(e.listener, e.opts.TLSCert, e.opts.TLSKey)
	} else {
		err = e.server.Serve(e.listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (e *httpEdge) dial(owner string, sender upstream.Caller) *upstream.Client {
	return e.host.Dial(owner, sender)
}

func (e *httpEdge) finish(ctx context.Context) { e.host.Finish(ctx) }

func (e *httpEdge) close(ctx context.Context) {
	if err := e.server.Shutdown(ctx); err != nil {
		_ = e.server.Close()
	}
	<-e.accepted
	e.host.Close()
}
