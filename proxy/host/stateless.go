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

	mu     sync.Mutex
	closed bool
	subs   map[*subscription]bool
	levels [8]int // unanswered requests that want log messages, by level
}

func newStateless(c *channel) *stateless {
	s := &stateless{channel: c, subs: map[*subscription]bool{}}
	s.client = c.Proxy.Dial(c.hello(upstream.Stateless), upstream.Handler{Notification: s.fromUpstream, More: c.hold})
	return s
}

// removed are the methods that this era does not have (revision 2026-07-28,
// Key Changes), and those of the older tasks.
var removed = map[string]bool{
	"initialize": true, "ping": true, "logging/setLevel": true,
	"resources/subscribe": true, "resources/unsubscribe": true,
	"tasks/result": true, "tasks/list": true,
}

func (s *stateless) serve(x exchange) canceller {
	from, err := readSender(x.request)
	if err != nil {
		x.fail(err)
		return nil
	}
	switch method := x.request.Method(); {
	case removed[method]:
		x.fail(wire.Errorf(wire.CodeMethodNotFound, "%s does not exist in revision %s.", method, statelessVersions[0]))
	case method == "server/discover":
		return s.discover(x)
	case method == "tasks/get" || method == "tasks/update":
		s.taskRequest(x, from)
	case method == "tasks/cancel": // it waits for the disk
		s.work.Go(func() { s.taskRequest(x, from) })
	case method == "subscriptions/listen":
		return s.listen(x, from)
	default:
		return s.forward(x, from)
	}
	return nil
}

func (s *stateless) forward(x exchange, from sender) canceller {
	s.wantLogs(from.logLevel, 1)
	over := sync.OnceFunc(func() { s.wantLogs(from.logLevel, -1) })
	cancel := s.Proxy.Handle(&proxy.Request{
		Message: x.request, Caller: from.caller, Upstream: s.client, Owner: owner, Tasks: from.tasks,
		Progress:  progressTo(x),
		Reply:     func(m wire.Message) { over(); x.reply(s.complete(x.request.Method(), m)) },
		ReplyTask: func(t taskstate.Task) bool { over(); return x.result(s.identify(handle(t))) },
	})
	return func(notice wire.Message) { over(); cancel(notice) }
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
	switch m.Method() {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed",
		"notifications/resources/list_changed", "notifications/resources/updated",
		"notifications/cancelled", "notifications/tasks/status":
	case "notifications/message":
		if s.logWanted(m) {
			s.send(m)
		}
	default:
		s.send(m)
	}
}

func (s *stateless) wantLogs(level, by int) {
	if level < 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.levels[level] += by
}

func (s *stateless) logWanted(m wire.Message) bool {
	level, _ := wire.String(wire.Get(m.Params(), "level"))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, name := range logLevels {
		if s.levels[i] > 0 {
			return true
		}
		if name == level {
			break
		}
	}
	return false
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
	return &wire.Error{Code: wire.CodeInternal, Message: "The proxy is shutting down. " + upstream.NotDispatched.Sentence(),
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
