package proxy

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Options is what a [Proxy] is made of.
type Options struct {
	// Tasks are those of this process. All proxies that share a store share
	// them, too.
	Tasks    *Tasks
	Policies Policies
	Limits   Limits
	// Upstream is how sessions with the server are made; [Proxy.Dial] adds
	// the greeting and the handler of each.
	Upstream upstream.Options
	// Identity tells this upstream server from others that share the store: a
	// stored task that was never sent is only sent to the server it was for.
	Identity string
	Log      zerolog.Logger
}

// Proxy is the core that all hosts of one upstream server share. Its methods may
// be called from any goroutine.
type Proxy struct {
	opts   Options
	prefix string // of our requestStates

	ctx  context.Context // of everything that outlives a host's request
	stop context.CancelCauseFunc
	work sync.WaitGroup // the runs

	reads   chan struct{} // of spilled results; has room for those that go on at once
	reading atomic.Int64  // and how many there are with those that wait

	mu      sync.Mutex
	held    map[string]*run // by the id of the hold
	kept    int             // bytes in them
	unsent  map[string]bool // holds of calls that nobody confirmed in time
	clients map[*upstream.Client]bool
	closed  bool
	drained bool // no host comes back any more
}

// New returns a proxy that does nothing yet. The caller must Close it.
func New(opts Options) *Proxy {
	p := &Proxy{opts: opts, prefix: prefixOf(opts.Tasks.store.Secret()), held: map[string]*run{}, unsent: map[string]bool{}, clients: map[*upstream.Client]bool{}, reads: make(chan struct{}, readsAtOnce)}
	p.ctx, p.stop = context.WithCancelCause(context.Background())
	return p
}

// Dial makes a session with the upstream server, which starts at the first
// request and ends with the proxy.
func (p *Proxy) Dial(hello upstream.Hello, handler upstream.Handler) *upstream.Client {
	opts := p.opts.Upstream
	handler.Takes = takes
	opts.Hello, opts.Handler = hello, handler
	client := upstream.New(opts)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients[client] = true
	if p.closed {
		client.Close(p.ctx) // it has nothing to end, and begins nothing any more
	}
	return client
}

// Hangup ends a session that [Proxy.Dial] made, before the proxy's own end:
// what is unanswered on it gets an error. It waits for that; if ctx ends first
// the server is killed.
func (p *Proxy) Hangup(ctx context.Context, client *upstream.Client) {
	client.Close(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.clients, client)
}

// Policy is how the calls of a tool are treated.
func (p *Proxy) Policy(tool string) Policy { return p.opts.Policies.For(tool) }

// Cancel takes a request of a host back. It is for a notifications/cancelled that
// names the request, or for the end of the host's session; called after the answer
// it does nothing, least of all to a task. Then, which may be nil, is called once,
// from any goroutine, with what is known of the work; the request's own Reply may
// have been called meanwhile.
type Cancel func(notice wire.Message, then func(work upstream.Outcome))

// moot cancels what is answered already, or leaves nothing at the server.
func moot(_ wire.Message, then func(upstream.Outcome)) { tell(then, upstream.NotDispatched) }

// Handle sends a request on its way and returns at once.
func (p *Proxy) Handle(r *Request) Cancel {
	if name, ours := spilled(r.Message); ours {
		return p.readSpilled(r, name)
	}
	r, answered := p.resourcesFor(r)
	if answered {
		return moot
	}
	if Conversable(r.Message.Method()) {
		return p.call(r)
	}
	return p.forward(r)
}

// forward passes a request straight through.
func (p *Proxy) forward(r *Request) Cancel {
	up := &upstream.Request{
		Message: r.Message, Caller: r.Caller, Header: r.Header, Notify: r.Progress, Aside: r.Aside, Ask: r.pass(),
	}
	up.Reply = func(m wire.Message, err *upstream.Error) { r.Reply(answer{m, err}.response()) }
	r.Upstream.Send(up)
	return func(notice wire.Message, then func(upstream.Outcome)) {
		_, work := r.Upstream.TakeBack(up, notice)
		tell(then, work)
	}
}

// noID stands where the edge puts the id that the host knows.
var noID = []byte("0")

// enter counts a run as work of the proxy, unless the proxy is closed.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.work.Add(1)
	}
	return !p.closed
}

// Drain waits until every call is answered and every task is done, or ctx ends.
// Call it when no host sends anything any more: whoever was to come back to a
// call is not waited for.
func (p *Proxy) Drain(ctx context.Context) {
	p.mu.Lock()
	p.drained = true
	p.mu.Unlock()
	for id, r := range p.holds() {
		r.post(func() { r.lapse(id, "the proxy ends") })
	}
	done := make(chan struct{})
	go func() { // ends at the latest with Close, which waits for the same
		p.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// PIDs are the process ids of the servers that run.
func (p *Proxy) PIDs() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	pids := []int{}
	for c := range p.clients {
		if pid := c.PID(); pid != 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// Close records the tasks that still run as failed, but for those that a later
// process can take up, ends the sessions and
// waits for everything. If ctx ends first the upstream servers are killed.
func (p *Proxy) Close(ctx context.Context) {
	p.stop(errShutdown)
	p.mu.Lock()
	p.closed = true
	clients := maps.Clone(p.clients)
	p.mu.Unlock()
	var closing sync.WaitGroup
	for c := range clients {
		closing.Go(func() { c.Close(ctx) })
	}
	closing.Wait()
	p.work.Wait()
}
