package host

import (
	"context"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func (gs *guests) newStateless(key, owner string, capabilities []byte) *guest {
	drop := func(m wire.Message) { // there is no stream that it belongs to
		gs.opts.Log.Debug().Str("method", m.Label()).Msg("dropped a message of the upstream server that belongs to no request")
	}
	g := &guest{key: key, owner: owner, inflight: newInflight(), used: time.Now()}
	g.channel = newChannel(gs.opts.Options, owner, drop, func(bool) {})
	g.stateless = newStateless(g.channel, capabilities)
	g.stateless.tools = &toolbox{}
	g.client = g.stateless.client
	return g
}

func (gs *guests) newSession(id, owner string, params []byte) *guest {
	g := &guest{key: id, owner: owner, inflight: newInflight().withEarly(), streams: &streams{log: gs.opts.Log}, used: time.Now()}
	g.channel = newChannel(gs.opts.Options, owner, g.streams.send, func(bool) {})
	g.channel.reachable = g.streams.isOpen
	g.session = newSession(g.channel, params)
	g.streams.refuse = g.session.questions.refuse
	g.client = g.session.client
	return g
}

// finish ends the guest's streams and lets it have its answers until ctx ends.
func (g *guest) finish(ctx context.Context) {
	if g.stateless != nil {
		g.stateless.endSubscriptions()
	}
	g.inflight.wait(ctx)
	g.leave(toldToEnd)
}

// leave gives up what is unanswered, for a reason, ends all streams, and waits for what was
// begun for the guest.
func (g *guest) leave(why string) {
	if g.stateless != nil {
		g.stateless.endSubscriptions()
	}
	g.inflight.giveUp(wire.Notification("notifications/cancelled", []byte(`{"reason":"the session is over"}`)), why)
	if g.streams != nil {
		g.streams.close()
	}
	g.channel.close()
	if g.session != nil {
		g.session.bridge.end()
	}
}
