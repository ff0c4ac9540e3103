package host

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// HTTPOptions configures the edge for hosts over HTTP. A zero limit stands for
// the default.
type HTTPOptions struct {
	Options
	// Owner says whose request it is; nil means that all are the local user's.
	// Two owners share nothing.
	Owner func(*http.Request) string
	// Forward names the request headers that are passed on to an upstream
	// server over HTTP.
	Forward []string
	// Local says that the edge is reached by the loopback interface alone.
	// Then only names of it may stand in Host, and origins on it are ours.
	Local bool
	// Origins are further web origins whose pages may use the edge, and Hosts
	// further names that may stand in Host. A listed host is also enforced
	// where Local is false.
	Origins, Hosts []string
	// Node, if not empty, stands in front of session ids, with a hyphen behind
	// it, so that requests can be routed by them.
	Node string
	// Connections is how many may be open; half as many requests of one owner may
	// be under way. Default 1,024.
	Connections int
	// Sessions limits the sessions with the upstream server; default 64.
	Sessions int
	// SessionIdle is after how long without use a session ends; default 10
	// minutes.
	SessionIdle time.Duration
	// KeepAlive is how often a silent stream gets a comment, and how long a
	// response may take before it becomes a stream; default 15 s.
	KeepAlive time.Duration
	// SlowClient is how long a client may take or give nothing while there is
	// something to write or read; default 1 minute.
	SlowClient time.Duration
}

func (o HTTPOptions) withDefaults() HTTPOptions {
	o.Options = o.Options.withDefaults()
	o.Connections = orElse(o.Connections, 1024)
	o.Sessions = orElse(o.Sessions, 64)
	o.SessionIdle = orElse(o.SessionIdle, 10*time.Minute)
	o.KeepAlive = orElse(o.KeepAlive, 15*time.Second)
	o.SlowClient = orElse(o.SlowClient, time.Minute)
	return o
}

func orElse[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// HTTP is the edge for hosts over Streamable HTTP: an http.Handler for one
// endpoint, on which both eras are served (revision 2026-07-28, Streamable
// HTTP; 2025-11-25, Transports). It is safe for concurrent use.
type HTTP struct {
	opts    HTTPOptions
	guests  *guests
	crowd   *crowd
	closing atomic.Bool
	sweeper sync.WaitGroup
	stop    context.CancelFunc
}

// NewHTTP makes an edge. Call Finish and then Close at its end.
func NewHTTP(opts HTTPOptions) *HTTP {
	ctx, stop := context.WithCancel(context.Background())
	h := &HTTP{opts: opts.withDefaults(), stop: stop}
	h.guests, h.crowd = newGuests(h.opts), newCrowd(h.opts.Connections)
	h.sweeper.Go(func() { h.guests.sweepUntil(ctx) })
	return h
}

// ServeHTTP goes by the method. POST carries messages; GET and DELETE are for
// sessions of the initialize era. It stands behind Guard, and behind whatever
// finds out the owner.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	owner := h.owner(r)
	if !h.crowd.enter(owner) {
		h.tooCrowded(w)
		return
	}
	defer h.crowd.leave(owner)
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r)
	case r.Method == http.MethodGet && !namesStateless(r):
		h.openStream(w, r)
	case r.Method == http.MethodDelete && !namesStateless(r):
		h.endSession(w, r)
	default:
		if w.Header().Set("Allow", "POST, GET, DELETE"); namesStateless(r) {
			w.Header().Set("Allow", "POST")
		}
		h.refuse(w, refuse(http.StatusMethodNotAllowed, wire.CodeInvalidRequest,
			"%s is not used in this revision: send each message by POST.", r.Method))
	}
}

func (h *HTTP) owner(r *http.Request) string {
	if h.opts.Owner == nil {
		return ""
	}
	return h.opts.Owner(r)
}

// Ready reports whether requests are served: not any more once Finish was
// called.
func (h *HTTP) Ready() bool { return !h.closing.Load() }

// Dial is the session for tasks of an owner that an earlier process left
// behind, as the owner's host would have it.
func (h *HTTP) Dial(owner string, sender upstream.Caller) *upstream.Client {
	return h.guests.recovered(owner, sender.Capabilities).client
}

// Finish refuses what hosts still send, ends their streams and waits for what
// is unanswered, until ctx ends; the rest is cancelled. Tasks are no part of
// this.
func (h *HTTP) Finish(ctx context.Context) {
	h.closing.Store(true)
	all := h.guests.all()
	var ending sync.WaitGroup
	for _, g := range all {
		ending.Go(func() { g.finish(ctx) })
	}
	ending.Wait()
}

// Close ends the edge and waits for what it began. The sessions with the
// upstream server are the proxy's to end, because tasks may still use them.
func (h *HTTP) Close() {
	h.stop()
	h.sweeper.Wait()
	h.guests.close()
}
