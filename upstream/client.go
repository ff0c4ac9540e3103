package upstream

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Options says how a [Client] reaches its server and to whom it listens.
type Options struct {
	Command Command
	// URL is the server's HTTP endpoint; then Command is not used. Header is
	// sent with every HTTP request.
	URL    string
	Header http.Header
	// TLS is for servers that the system's roots do not vouch for; nil means
	// the usual.
	TLS *tls.Config
	// Dial makes connections to URL; nil uses the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Hello is what the client says of itself and in which era.
	Hello Hello
	// Handler takes what the server sends on its own account.
	Handler Handler
	// Stderr takes the server's standard error as it comes; nil drops it.
	Stderr io.Writer
	// MessageBytes limits one message of the server; 0 means 32 MiB.
	MessageBytes int
	// ProbeWait is how long a server may be silent on server/discover before
	// it is taken for one of the initialize era; 0 means 2 s.
	ProbeWait time.Duration
	// CloseGrace and TermGrace are how long a server has to leave after its
	// standard input was closed and after SIGTERM; over HTTP CloseGrace is for
	// ending the session. 0 means 1 s each.
	CloseGrace, TermGrace time.Duration
	// Passthrough leaves tasks of both kinds to the host and the server: nothing
	// is taken from what a host declares, and nothing of Request.Task is done.
	Passthrough bool
	Log         zerolog.Logger
	// LogPayloads writes every message to the log, at level info.
	LogPayloads bool
}

// Handler takes the messages that belong to no request of ours. Its functions
// run on the goroutine that reads from the server: they must not wait for it.
// Over HTTP, where requests have streams of their own, there are several such
// goroutines, and calls may overlap.
type Handler struct {
	// Takes says whether a caller declared what a question asks for; nil means
	// that all do. It decides between those who may be meant by one.
	Takes func(Caller, wire.Message) bool
	// Notification takes notifications other than those of a request or of a
	// subscription. Nil drops them.
	Notification func(wire.Message)
	// Request takes a request of the server; answer must be called once, with
	// a response under any id. Where it is nil, ping is answered and the others
	// are attributed to a [Request] with Ask: to the one whose progress token
	// they bear, else to the latest that is open. If none is, they are refused.
	// Those of a task that is followed belong to its request in any case.
	Request func(m wire.Message, answer func(wire.Message))
	// More says, when that changes, whether another message of the server is
	// there already: what is passed on may be gathered until it is not.
	More func(bool)
	// Lost says that the server is gone and with it whatever it had asked.
	Lost func()
}

// Client is one session with the upstream server. It starts the server for the
// first request and again, after its death, for the next one. All methods may
// be called from any goroutine.
type Client struct {
	opts   Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // attempts to connect

	mu      sync.Mutex
	closed  bool
	nextID  int64              // of requests; one for all sessions, for a task outlives its own over HTTP
	tasks   map[string]*follow // by the server's ids
	conn    *conn              // what requests are sent on; nil while there is none
	last    *conn              // the newest one, alive or not
	trying  *attempt           // the attempt to connect that is under way
	waiting []*Request         // requests in order, until the attempt ends
	listens map[*Listen]bool
	watched map[string]int // resources subscribed to, and by how many listens
	oldSSE  bool           // the server was last reached over HTTP+SSE; of the attempt
	history history
	idle    idle
	kept    int         // calls of Keep that are not released
	header  http.Header // what the newest request forwarded
	rest    bool        // Rest was asked for while the server was starting
	greeted bool        // some handshake succeeded
	desc    Description // of the newest that did; its era is the server's

	declares declaration
}

// New returns a client that is not connected yet. The caller must Close it.
func New(opts Options) *Client {
	if opts.MessageBytes == 0 {
		opts.MessageBytes = 32 << 20
	}
	if opts.ProbeWait == 0 {
		opts.ProbeWait = 2 * time.Second
	}
	c := &Client{opts: opts, listens: map[*Listen]bool{}, watched: map[string]int{}, tasks: map[string]*follow{}}
	c.declares.all = c.allowed(opts.Hello.Capabilities)
	c.idle.touch()
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Connect starts the server and greets it, unless that is done, and returns
// what it said. If ctx ends first the attempt goes on without the caller. The
// error is an [*Error], or the cause of ctx.
func (c *Client) Connect(ctx context.Context) (Description, error) {
	c.mu.Lock()
	if c.conn != nil {
		defer c.mu.Unlock()
		return c.desc, nil
	}
	if c.closed {
		c.mu.Unlock()
		return Description{}, errClosed().with(NotDispatched)
	}
	try := c.connectLocked()
	c.mu.Unlock()
	select {
	case <-try.done:
		return try.desc, try.err
	case <-ctx.Done():
		return Description{}, context.Cause(ctx)
	}
}

// More says whether another request is to come at once: those before it may be
// gathered. Whoever says so must say otherwise before waiting for anything.
func (c *Client) More(more bool) {
	c.mu.Lock()
	k := c.conn
	c.mu.Unlock()
	if k != nil {
		k.link.hold(more)
	}
}

// Describe returns what the server said of itself when it was greeted last;
// known is false if it never was.
func (c *Client) Describe() (desc Description, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.desc, c.greeted
}

// PID is the server's process id; 0 if none runs, or it is reached over HTTP.
func (c *Client) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.last.ended || c.last.retired {
		return 0
	}
	return c.last.pid
}

// Rest stops the server if nothing is asked of it. The next request starts it
// again.
func (c *Client) Rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.conn
	c.rest = c.trying != nil
	if k == nil || c.closed || len(c.listens) > 0 || len(c.waiting) > 0 || len(k.open) > 0 || c.kept > 0 {
		return
	}
	c.conn, k.retired = nil, true
	c.work.Go(func() { k.link.stop(c.ctx) })
}

// Close ends the session and waits: unanswered requests get an error, the
// server is stopped (revision 2026-07-28, stdio, Shutdown). If ctx ends first
// the server is killed. Further calls wait for the same end.
func (c *Client) Close(ctx context.Context) {
	c.mu.Lock()
	c.closed = true
	k := c.last
	c.mu.Unlock()
	c.cancel()
	if k != nil {
		k.link.stop(ctx)
	}
	c.work.Wait()
}
