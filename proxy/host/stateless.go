package host

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// stateless serves requests that stand by themselves. What it keeps between
// them is the upstream session and the open subscriptions.
type stateless struct {
	*channel
	client *upstream.Client

	varies bool // what hosts declare may differ from request to request

	mu        sync.Mutex
	closed    bool
	subs      map[*subscription]bool
	listening int        // what they weigh
	logs      []*logWish // of unanswered requests, in their order

	told told

	tools    *toolbox // nil where messages have no headers
	fallback *fallback
}

// newStateless serves senders with these capabilities; nil where they may
// differ from request to request.
func newStateless(c *channel, capabilities []byte) *stateless {
	s := &stateless{channel: c, varies: capabilities == nil, subs: map[*subscription]bool{}, fallback: newFallback(c)}
	hello := c.hello(upstream.Stateless)
	hello.Capabilities = capabilities
	s.client = c.Proxy.Dial(hello, upstream.Handler{Notification: s.fromUpstream, More: c.hold})
	return s
}

// removed are the methods that this era does not have (revision 2026-07-28,
// Key Changes), and those of the older tasks.
var removed = map[string]bool{
	"initialize": true, "ping": true, "logging/setLevel": true,
	"resources/subscribe": true, "resources/unsubscribe": true,
	"tasks/result": true, "tasks/list": true,
}

func removedMethod(m wire.Message) *wire.Error {
	if m.Method() == "tasks/list" {
		return wire.Errorf(wire.CodeMethodNotFound, "tasks/list does not exist in revision %s: whoever made a task has its handle, for tasks/get. In revision %s tasks can be listed.",
			statelessVersions[0], revisionOfTasks)
	}
	return wire.Errorf(wire.CodeMethodNotFound, "%s does not exist in revision %s.", m.Method(), statelessVersions[0])
}

func (s *stateless) serve(x exchange) canceller {
	from, err := readSender(x.request)
	if err != nil {
		x.fail(err)
		return nil
	}
	if s.varies {
		s.client.Declare(from.caller.Capabilities)
	}
	switch method := x.request.Method(); {
	case removed[method]:
		x.fail(removedMethod(x.request))
	case method == "server/discover":
		return s.discover(x)
	case s.Passthrough && olderTaskMethods[method]:
		return s.forward(x, from)
	case method == "tasks/get" && s.Proxy.AtHand(taskNamed(x.request)):
		s.taskRequest(x, from)
	case method == "tasks/get":
		s.inTurn(x, func() { s.taskRequest(x, from) })
	case method == "tasks/update" || method == "tasks/cancel":
		s.apart(x, func() { s.taskRequest(x, from) })
	case !from.tasks && s.fallback.has(x.request):
		return s.serveFallback(x, from)
	case method == "subscriptions/listen":
		return s.listen(x, from)
	default:
		return s.forward(x, from)
	}
	return nil
}

func (s *stateless) forward(x exchange, from sender) canceller {
	over := s.wantLogs(x, from.logLevel)
	tickets := !from.tasks && s.fallback.is()
	cancel := s.Proxy.Handle(&proxy.Request{
		Message: x.request, Caller: from.caller, Upstream: s.client, Owner: s.owner, Tasks: from.tasks && !s.Passthrough, Fallback: tickets,
		Resources: s.offersResources(), Header: x.header, Progress: progressTo(x), Aside: func(m wire.Message) { aside(x, from, m) },
		Reply: func(m wire.Message) bool { over(); return x.reply(s.complete(x.request.Method(), from, m)) },
		ReplyTask: func(t taskstate.Task) bool {
			over()
			if tickets {
				return x.reply(s.complete("tools/call", from, s.fallback.ticket(t)))
			}
			return x.result(s.identify(handle(t)))
		},
	})
	return func(notice wire.Message, then func(upstream.Outcome)) { over(); cancel(notice, then) }
}

// notification passes on what the host sends of its own accord. Roots are not
// announced in this era.
func (s *stateless) notification(m wire.Message) {
	if m.Method() != "notifications/roots/list_changed" {
		s.client.Notify(m)
	}
}

// fromUpstream takes what belongs to no request. Changes reach hosts by their
// subscriptions only, log messages only while a request that asked for them is
// unanswered (revision 2026-07-28, Subscriptions; Logging).
func (s *stateless) fromUpstream(m wire.Message) {
	switch {
	case changes[m.Method()]:
	case m.Method() == "notifications/message":
		s.log(m)
	default:
		s.send(m)
	}
}

// connectError explains why there is no upstream server to speak to.
func connectError(err error) *wire.Error {
	var failed *upstream.Error
	var refused *upstream.RefusedListen
	switch {
	case errors.As(err, &failed):
		return failed.Wire()
	case errors.As(err, &refused):
		return theirError(refused.Object)
	case errors.Is(err, context.DeadlineExceeded):
		return &wire.Error{Code: wire.CodeInternal, Message: "The upstream server is still starting. Try again in a moment.",
			Data: map[string]any{"reason": "upstream_starting", "outcome": upstream.NotDispatched}}
	}
	return shuttingDown()
}

func shuttingDown() *wire.Error {
	return &wire.Error{Code: wire.CodeInternal, Message: "The session is over, or the proxy is shutting down. " + upstream.NotDispatched.Sentence(),
		Data: map[string]any{"reason": "shutdown", "outcome": upstream.NotDispatched}}
}

// theirError is an error object of the upstream server as one of ours.
func theirError(object []byte) *wire.Error {
	code, err := strconv.Atoi(string(wire.Get(object, "code")))
	if err != nil {
		code = wire.CodeInternal
	}
	text, _ := wire.String(wire.Get(object, "message"))
	e := wire.Errorf(code, "%s", text)
	if data := wire.Get(object, "data"); data != nil {
		e.Data = json.RawMessage(data)
	}
	return e
}
