package host

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// bridge serves a session of the initialize era whose upstream server speaks
// the stateless one: it remembers what that era says with every request, and
// does what it has no method for.
type bridge struct {
	session *session

	mu       sync.Mutex
	logLevel []byte
	watched  map[string]*upstream.Listen // by resource
	lists    *upstream.Listen            // for list changes, once the host is initialized
}

func newBridge(s *session) *bridge {
	return &bridge{session: s, watched: map[string]*upstream.Listen{}}
}

func (b *bridge) serve(x exchange) canceller {
	switch x.request.Method() {
	case "ping":
		x.result([]byte("{}"))
	case "logging/setLevel":
		b.setLevel(x)
	case "resources/subscribe":
		return b.watch(x)
	case "resources/unsubscribe":
		b.unwatch(x)
	default:
		return b.forward(x)
	}
	return nil
}

func (b *bridge) forward(x exchange) canceller {
	return b.session.Proxy.Handle(b.session.request(x))
}

// adapt makes a request of the session one to a server of the stateless era.
func (b *bridge) adapt(req *proxy.Request) {
	reply, ask := req.Reply, req.Ask
	req.Caller = b.caller()
	req.Reply = func(m wire.Message) bool { return reply(toInitializeEra(m)) }
	req.Ask = func(m wire.Message, answer func(wire.Message)) func() { return ask(withElicitationID(m), answer) }
}

// withElicitationID adds what a question in URL mode has in this era only
// (revision 2026-07-28, Key Changes).
func withElicitationID(m wire.Message) wire.Message {
	params := m.Params()
	if string(wire.Get(params, "mode")) != `"url"` || wire.Get(params, "elicitationId") != nil {
		return m
	}
	return m.With(wire.Changes{Params: wire.Set(params, "elicitationId", wire.Quote(rand.Text()))})
}

func (b *bridge) caller() upstream.Caller {
	b.mu.Lock()
	defer b.mu.Unlock()
	caller := b.session.caller
	caller.LogLevel = b.logLevel
	return caller
}

// toInitializeEra takes from a result what only the stateless era knows.
func toInitializeEra(m wire.Message) wire.Message {
	result := m.Result()
	switch {
	case result == nil:
		return m
	case isTask(result):
		return foreignTask()
	}
	result = wire.Delete(result, "resultType", "ttlMs", "cacheScope")
	return m.With(wire.Changes{Result: wire.DeleteIn(result, "_meta", metaServerInfo)})
}

func (b *bridge) setLevel(x exchange) {
	b.mu.Lock()
	b.logLevel = wire.Get(x.request.Params(), "level")
	b.mu.Unlock()
	x.result([]byte("{}"))
}

func (b *bridge) watch(x exchange) canceller {
	uri := wire.Get(x.request.Params(), "uri")
	l := b.listen(wire.Set(nil, "resourceSubscriptions", wire.Array([][]byte{uri})))
	b.mu.Lock()
	known := b.watched[string(uri)] != nil
	if !known {
		b.watched[string(uri)] = l
	}
	b.mu.Unlock()
	if known {
		x.result([]byte("{}"))
		return nil
	}
	stop := b.begin(l, func(err error) {
		if err != nil {
			b.forget(uri)
			x.fail(connectError(err))
			return
		}
		x.result([]byte("{}"))
	})
	return stopping(stop, upstream.Unknown)
}

func (b *bridge) unwatch(x exchange) {
	if l := b.forget(wire.Get(x.request.Params(), "uri")); l != nil {
		b.session.client.Unlisten(l)
	}
	x.result([]byte("{}"))
}

func (b *bridge) forget(uri []byte) *upstream.Listen {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.watched[string(uri)]
	delete(b.watched, string(uri))
	return l
}

// notification: once the host is initialized it hears of list changes, which
// are free in its era and have to be asked for in the server's.
func (b *bridge) notification(m wire.Message, desc upstream.Description) {
	switch m.Method() {
	case "notifications/initialized":
		b.followLists(desc)
	case "notifications/roots/list_changed":
	default:
		b.session.client.Notify(m)
	}
}

// end is for the end of the session: the server may live on for its tasks.
func (b *bridge) end() {
	b.mu.Lock()
	listens := slices.Collect(maps.Values(b.watched))
	if b.lists != nil {
		listens = append(listens, b.lists)
	}
	clear(b.watched)
	b.mu.Unlock()
	for _, l := range listens {
		b.session.client.Unlisten(l)
	}
}

func (b *bridge) followLists(desc upstream.Description) {
	filter := listFilter(desc.Capabilities)
	b.mu.Lock()
	first := b.lists == nil
	if first {
		b.lists = b.listen(filter)
	}
	l := b.lists
	b.mu.Unlock()
	if !first || string(filter) == "{}" {
		return
	}
	b.begin(l, func(err error) {
		if err != nil && b.session.ctx.Err() == nil {
			b.session.Log.Info().Err(err).Msg("the upstream server does not report list changes")
		}
	})
}

// listFilter asks for the list changes that the server says it reports.
func listFilter(capabilities []byte) []byte {
	filter := []byte("{}")
	for _, list := range []string{"tools", "prompts", "resources"} {
		if string(wire.Lookup(capabilities, list, "listChanged")) == "true" {
			filter = wire.Set(filter, list+"ListChanged", []byte("true"))
		}
	}
	return filter
}

func (b *bridge) listen(filter []byte) *upstream.Listen {
	return &upstream.Listen{
		Filter: filter, Caller: b.session.caller, Notify: b.session.sendBehind,
		Ended: func() { b.session.Log.Warn().Msg("the upstream server ended a subscription") },
	}
}

// begin says in the end what came of it; stop ends it before that.
func (b *bridge) begin(l *upstream.Listen, then func(error)) (stop func()) {
	s := b.session
	ctx, cancel := context.WithCancel(s.ctx)
	spawned := s.spawn(func() {
		defer cancel()
		_, err := s.client.Listen(ctx, l)
		then(err)
	})
	if !spawned {
		cancel()
		then(context.Canceled)
	}
	return cancel
}
