package upstream

import (
	"slices"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// maxUnclaimed bounds the calls that were taken back and whose answer may still
// come, on one run of a session.
const maxUnclaimed = 1000

// task takes the answer to a call if it is that the server has made a task of it.
// That of a call which was taken back meanwhile must not run on unseen.
func (k *conn) task(origin *Request, id int64, m wire.Message) bool {
	r, gone := k.wisher(id)
	if r == nil && gone == nil {
		return false
	}
	task := k.makes().created(m)
	if task == nil {
		return false
	}
	ref, err := newRef(k.makes(), task)
	switch {
	case gone != nil && err == nil:
		k.client.cancelTask(gone, ref)
	case gone != nil:
	case err != nil:
		k.fail(r, errMalformed(err))
	default:
		k.begin(origin, r, ref, task)
	}
	return true
}

// wisher returns the open call with that id whose answer may be a task, or what is
// remembered of one that was taken back.
func (k *conn) wisher(id int64) (r, gone *Request) {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	gone = k.unclaimed[id]
	delete(k.unclaimed, id)
	if r = k.open[id]; r == nil || !r.wished || r.answered {
		return nil, gone
	}
	return r, gone
}

func (k *conn) begin(origin, r *Request, ref taskRef, task []byte) {
	f := k.client.newFollow(r, ref)
	f.status, _ = wire.String(wire.Get(task, "status"))
	f.message = statusMessage(task)
	taken, begun := k.beginFollow(f)
	switch {
	case taken:
		k.client.cancelTask(r, ref)
	case !begun:
		k.fail(r, errClosed().with(Unknown))
	case r != origin:
		_ = k.link.cancel(r, wire.Message{}) // of which the server hears nothing
	}
}

// beginFollow reports whether the request was taken back just now, and else
// whether its task is followed.
func (k *conn) beginFollow(f *follow) (taken, begun bool) {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	r := f.request
	if k.open[r.id] != r {
		delete(k.unclaimed, r.id)
		f.end()
		return true, false
	}
	return false, f.beginLocked()
}

// takeBackLocked reports whether r was open here until now. It may have gone to
// another session since.
func (k *conn) takeBackLocked(r *Request) bool {
	if k.open[r.id] != r {
		return false
	}
	k.takeLocked(r.id)
	if !r.wished || r.answered {
		return true
	}
	if len(k.unclaimed) >= maxUnclaimed {
		delete(k.unclaimed, oldest(k.unclaimed))
	}
	k.unclaimed[r.id] = &Request{Caller: r.Caller, conn: k} // not the message, which may be large
	return true
}

func oldest(all map[int64]*Request) int64 {
	ids := make([]int64, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	return slices.Min(ids)
}

// remembers reports whether r was taken back while its answer may be a task.
func (k *conn) remembers(r *Request) bool {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	return k.unclaimed[r.id] != nil
}

// taskNews takes a notification about a task that is followed. Of the others of
// revision 2025-11-25 no host has heard.
func (k *conn) taskNews(m wire.Message) (taken bool) {
	older := m.Method() == "notifications/tasks/status" && k.makes() == olderTasks
	if !older && (m.Method() != "notifications/tasks" || k.makes() != extensionTasks) {
		return false
	}
	id, _ := wire.String(wire.Get(m.Params(), "taskId"))
	f := k.client.followed(id)
	if f != nil {
		f.hear(m.Params())
	}
	return f != nil || older
}

func (c *Client) followed(id string) *follow {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tasks[id]
}
