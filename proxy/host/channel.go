package host

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Options configures an edge, whatever its transport.
type Options struct {
	Proxy *proxy.Proxy
	// Version is this program's own.
	Version string
	// Era overrides which era is tried first with the upstream server, or
	// alone; nil follows the host.
	Era *upstream.Era
	// MessageBytes limits one message of the host; 0 means 32 MiB.
	MessageBytes int
	// Listeners is how many subscriptions one session's host may have, counting
	// the tasks that they name, too; 0 means 4,096.
	Listeners int
	// StartWait is how long server/discover waits for a slow upstream server
	// before it is answered with an error; 0 means 25 s.
	StartWait   time.Duration
	Log         zerolog.Logger
	LogPayloads bool
	// Passthrough leaves tasks to the host and the server.
	Passthrough bool
	OlderTasks  OlderTasks
	Fallback    Fallback
	// NoList says that hosts cannot be told apart, so that none may list tasks.
	NoList bool

	collided *atomic.Bool // the server has a tool of one of the fallback's names
}

// OlderTasks is how tasks look to hosts that know those of revision 2025-11-25.
type OlderTasks struct {
	// ErrorStatus is the status of a task whose result says isError: failed, or
	// completed.
	ErrorStatus string
	// ImmediateResponse is for the model, in the place of an answer, when a task is
	// made; empty for none.
	ImmediateResponse string
}

// Fallback is what hosts without tasks get: three tools by these names, and how
// long the first of them waits.
type Fallback struct {
	Result, Status, Cancel string
	Wait                   time.Duration
}

func (o Options) withDefaults() Options {
	if o.MessageBytes == 0 {
		o.MessageBytes = 32 << 20
	}
	o.Listeners = orElse(o.Listeners, 4096)
	o.collided = new(atomic.Bool)
	if o.StartWait == 0 {
		o.StartWait = 25 * time.Second
	}
	return o
}

// trace logs a message whole, if that was asked for.
func (o Options) trace(what string, text []byte) {
	if o.LogPayloads {
		o.Log.Info().Bytes("payload", text).Msg(what)
	}
}

// channel is what the eras need of the transport that they are served on: the
// way to the host for what belongs to no request, and the life of what they do
// on goroutines of their own.
type channel struct {
	Options
	// owner is whose requests come this way; empty for whoever runs the
	// process.
	owner string
	send  func(wire.Message)
	// reachable says whether send reaches the host without it asking for
	// anything; nil if it always does.
	reachable func() bool
	// hold says whether more messages are to come at once.
	hold func(more bool)

	ctx    context.Context
	cancel context.CancelFunc

	gate sync.Mutex
	shut bool // nothing is spawned any more
	work sync.WaitGroup

	line   chan struct{} // has room for as many as may wait for the disk
	places chan struct{} // and for those whose answers may be large
}

func newChannel(opts Options, owner string, send func(wire.Message), hold func(bool)) *channel {
	c := &channel{Options: opts, owner: owner, send: send, hold: hold, line: make(chan struct{}, lineRoom), places: make(chan struct{}, largeAtOnce)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *channel) isReachable() bool { return c.reachable == nil || c.reachable() }

// spawn runs f on a goroutine that close waits for. It is false once the
// channel is closed.
func (c *channel) spawn(f func()) bool {
	c.gate.Lock()
	defer c.gate.Unlock()
	if !c.shut {
		c.work.Go(f)
	}
	return !c.shut
}

// close ends what is at work on requests and waits for it. It may be called
// more than once.
func (c *channel) close() {
	c.gate.Lock()
	c.shut = true
	c.gate.Unlock()
	c.cancel()
	c.work.Wait()
}

// hello is how upstream sessions of this channel open.
func (c *channel) hello(era upstream.Era) upstream.Hello {
	hello := upstream.Hello{Era: era, Info: proxyInfo(c.Version)}
	if c.Era != nil {
		hello.Era, hello.Only = *c.Era, true
	}
	return hello
}

func proxyInfo(version string) []byte {
	return wire.Set(wire.Set(nil, "version", wire.Quote(version)), "name", wire.Quote("mcp-taskproxy"))
}
