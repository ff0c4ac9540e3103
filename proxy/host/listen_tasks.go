package host

import (
	"context"
	"errors"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// maxTaskIDs may be listened to by one subscription.
const maxTaskIDs = 1000

// watchTasks begins to follow the owner's tasks that a subscription names, and
// adds their ids to what is accepted (Tasks extension, Task Status
// Notifications).
func (s *stateless) watchTasks(filter, accepted []byte) (watches []*taskstate.Watch, all []byte) {
	ids := wire.Get(filter, "taskIds")
	if ids == nil {
		return nil, accepted
	}
	taken, seen := [][]byte{}, map[string]bool{}
	for _, quoted := range wire.Elements(ids) {
		id, _ := wire.String(quoted)
		if seen[id] {
			continue
		}
		seen[id] = true
		switch watch, err := s.Proxy.Watch(s.owner, id); {
		case err == nil:
			watches, taken = append(watches, watch), append(taken, quoted)
		case !errors.Is(err, taskstate.ErrNotFound) && !errors.Is(err, taskstate.ErrClosed): // unknown, as far as the host is concerned: tasks/get says more
			s.Log.Error().Err(err).Str("task", proxy.Shorten(id, 100)).Msg("a task that a client wants to listen to cannot be read")
		}
	}
	return watches, wire.Set(accepted, "taskIds", wire.Array(taken))
}

// follow tells the host of its tasks as long as ctx lasts, each by a goroutine
// of its own: a slow reader holds up nobody.
func (s *stateless) follow(ctx context.Context, sub *subscription, watches []*taskstate.Watch) {
	for _, watch := range watches {
		if !s.spawn(func() { sub.follow(ctx, watch) }) {
			watch.Close()
		}
	}
}

func (sub *subscription) follow(ctx context.Context, watch *taskstate.Watch) {
	defer watch.Close()
	for {
		task, err := watch.Next(ctx)
		if err != nil { // nothing follows the end of the task
			return
		}
		sub.tell(ctx, task)
	}
}

// tell waits for a host that does not read: what becomes of its tasks meanwhile
// is gathered by the watches, which are bounded.
func (sub *subscription) tell(ctx context.Context, task taskstate.Task) {
	sub.turn.Lock()
	defer sub.turn.Unlock()
	if sub.x.caughtUp != nil {
		sub.x.caughtUp(ctx)
	}
	sub.notify(wire.Notification("notifications/tasks", sub.told.paramsOf(task)))
}
