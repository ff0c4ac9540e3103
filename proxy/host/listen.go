package host

import (
	"context"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// subscription is one open subscriptions/listen (revision 2026-07-28,
// Subscriptions).
type subscription struct {
	x      exchange
	listen *upstream.Listen // nil if nothing of the server's is listened to
	cancel context.CancelFunc
	told   *told      // of the session
	turn   sync.Mutex // of its tasks
	weight int        // itself, and its tasks

	mu           sync.Mutex
	acknowledged bool
	over         bool           // the server ended it
	ended        bool           // nothing is sent any more
	early        []wire.Message // came before the acknowledgement, go out after it
}

// maxEarly bounds early: what changed since can be looked up.
const maxEarly = 1000

// listen opens a subscription: the upstream server agrees first, then the host
// is told what it will hear of, then it hears of it.
func (s *stateless) listen(x exchange, from sender) canceller {
	filter := wire.Get(x.request.Params(), "notifications")
	if err := refuseFilter(filter, from); err != nil {
		x.fail(err)
		return nil
	}
	sub := &subscription{x: x, told: &s.told, weight: 1 + len(wire.Elements(wire.Get(filter, "taskIds")))}
	if theirs := s.theirs(filter); len(theirs) == len(filter) || string(theirs) != "{}" {
		sub.listen = &upstream.Listen{
			Filter: theirs, Caller: from.caller, Header: x.header,
			Notify: sub.notify, Ended: func() { s.overSubscription(sub) },
		}
	}
	ctx, cancel := context.WithCancel(s.ctx)
	sub.cancel = cancel
	refused := s.keep(sub)
	if refused == nil && !s.spawn(func() { s.begin(ctx, sub) }) {
		refused = shuttingDown()
	}
	if refused != nil {
		s.drop(sub)
		x.fail(refused)
		return nil
	}
	return stopping(func() { s.drop(sub) }, upstream.NotDispatched)
}

// theirs is what the server is listened to for.
func (s *stateless) theirs(filter []byte) []byte {
	if s.Passthrough {
		return filter
	}
	return wire.Delete(filter, "taskIds")
}

func refuseFilter(filter []byte, from sender) *wire.Error {
	switch ids := wire.Get(filter, "taskIds"); {
	case !wire.IsObject(filter):
		return wire.Errorf(wire.CodeInvalidParams, "params.notifications is required: an object that says what to listen to.")
	case ids == nil:
		return nil
	case !from.tasks:
		return proxy.MissingTasks("taskIds belongs to the Tasks extension")
	case ids[0] != '[':
		return wire.Errorf(wire.CodeInvalidParams, "params.notifications.taskIds must be an array of strings.")
	case len(wire.Elements(ids)) > maxTaskIDs:
		return wire.Errorf(wire.CodeInvalidParams, "params.notifications.taskIds may name %d tasks.", maxTaskIDs)
	}
	return nil
}

func (s *stateless) begin(ctx context.Context, sub *subscription) {
	accepted := []byte("{}")
	if sub.listen != nil {
		theirs, err := s.client.Listen(ctx, sub.listen)
		if err != nil {
			if s.drop(sub) {
				sub.x.fail(connectError(err))
			}
			return
		}
		if theirs != nil {
			accepted = theirs
		}
	}
	var watches []*taskstate.Watch
	if !s.Passthrough {
		watches, accepted = s.watchTasks(wire.Get(sub.x.request.Params(), "notifications"), accepted)
	}
	if sub.acknowledge(accepted) {
		s.endSubscription(sub)
	}
	s.follow(ctx, sub, watches)
}

// acknowledge reports whether the server has ended the subscription meanwhile.
func (sub *subscription) acknowledge(accepted []byte) (over bool) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.ended {
		return false
	}
	sub.acknowledged = true
	sub.send(wire.Notification("notifications/subscriptions/acknowledged", wire.Set(nil, "notifications", accepted)))
	for _, m := range sub.early {
		sub.send(m)
	}
	sub.early = nil
	return sub.over
}

// overSubscription is for the server's end of it: behind the acknowledgement,
// which is the first message on it.
func (s *stateless) overSubscription(sub *subscription) {
	sub.mu.Lock()
	sub.over = true
	acknowledged := sub.acknowledged
	sub.mu.Unlock()
	if acknowledged {
		s.endSubscription(sub)
	}
}

func (sub *subscription) notify(m wire.Message) {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	switch {
	case sub.ended:
	case sub.acknowledged:
		sub.send(m)
	case len(sub.early) < maxEarly:
		sub.early = append(sub.early, m)
	}
}

// end lets nothing be sent any more.
func (sub *subscription) end() {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.ended = true
}

// send marks a notification as this subscription's: the id is that of the
// host's request, type and spelling included.
func (sub *subscription) send(m wire.Message) {
	params := m.Params()
	meta := wire.Set(wire.Get(params, "_meta"), metaSubscription, sub.x.request.ID())
	sub.x.notify(m.With(wire.Changes{Params: wire.Set(params, "_meta", meta)}))
}

func (s *stateless) keep(sub *subscription) (refused *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return shuttingDown()
	case s.listening+sub.weight > s.Listeners:
		return proxy.OverLimit("listeners", s.Listeners, "subscriptions, and tasks in them, may be open at a time, this one with its tasks included. Close some, or name fewer tasks.")
	}
	s.subs[sub] = true
	s.listening += sub.weight
	return nil
}

// drop reports whether the subscription was open until now.
func (s *stateless) drop(sub *subscription) bool {
	s.mu.Lock()
	open := s.subs[sub]
	if open {
		delete(s.subs, sub)
		s.listening -= sub.weight
	}
	s.mu.Unlock()
	sub.end()
	sub.cancel()
	if sub.listen != nil {
		s.client.Unlisten(sub.listen)
	}
	return open
}

// endSubscription closes a subscription in good order (revision 2026-07-28,
// Subscriptions, Graceful Closure). The result says all that a
// notifications/cancelled (Cancellation) would: clients take either.
func (s *stateless) endSubscription(sub *subscription) {
	if !s.drop(sub) {
		return
	}
	meta := wire.Set(nil, metaSubscription, sub.x.request.ID())
	sub.x.result(s.identify(wire.Set(acknowledgement, "_meta", meta)))
}

// endSubscriptions ends those that are open and lets no more begin.
func (s *stateless) endSubscriptions() {
	s.mu.Lock()
	s.closed = true
	var open []*subscription
	for sub := range s.subs {
		open = append(open, sub)
	}
	s.mu.Unlock()
	for _, sub := range open {
		s.endSubscription(sub)
	}
}
