package upstream

import (
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// asked is one of the requests that a follow makes again and again: it is open, or
// due.
type asked struct {
	own      ownCall // of an open one
	began    time.Time
	next     time.Time
	limit    time.Time // of an open one; zero for none
	failures int       // one behind the other
}

func (a *asked) open() bool { return a.own.request != nil }

// answer is nil, and so never ready, where none is open.
func (a *asked) answer() <-chan answer { return a.own.answer }

// due is the time at which something has to be done.
func (a *asked) due() time.Time {
	if a.open() {
		return a.limit
	}
	return a.next
}

func (a *asked) isDue(now time.Time) bool {
	due := a.due()
	return !due.IsZero() && !now.Before(due)
}

// soon has it asked at once, but not in quick succession; never means not at all.
func (a *asked) soon() {
	a.next = time.Now()
	if least := a.began.Add(leastPoll); least.After(a.next) {
		a.next = least
	}
}
func (a *asked) never() { a.next = time.Time{} }

func (a *asked) in(d time.Duration) { a.next = time.Now().Add(d) }

// over notes the answer; the next time is for the caller to set. One that was open
// for long before it was cut is no sign of trouble.
func (a *asked) over(failed bool) {
	a.own, a.limit = ownCall{}, time.Time{}
	if !failed || time.Since(a.began) > longestBackoff {
		a.failures = 0
	}
	if failed {
		a.failures++
	}
}

// ask opens a. Over HTTP somebody on the way may forget a request that should take
// no time: limit is for those.
func (f *follow) ask(a *asked, limit time.Duration, own ownCall) {
	a.own, a.began = own, time.Now()
	if limit > 0 && f.client.opts.URL != "" {
		a.limit = time.Now().Add(limit)
	}
	f.client.sendFor(f.request, a.own.request)
}

// drop forgets an open request; its answer is not wanted any more. Notice is for a
// server that has to be told, and else nothing.
func (f *follow) drop(a *asked, notice wire.Message) {
	if a.open() {
		f.client.Cancel(a.own.request, notice)
		a.own, a.limit = ownCall{}, time.Time{}
	}
}

// own is a request that names the task.
func (f *follow) own(method string, params []byte) ownCall {
	return f.client.onBehalf(f.request, method, wire.Set(params, "taskId", f.ref.Task))
}

// onBehalf makes a request of ours that concerns a task of r. How much is logged r
// itself has said.
func (c *Client) onBehalf(r *Request, method string, params []byte) ownCall {
	caller := Caller{Info: r.Caller.Info, Capabilities: r.Caller.Capabilities, Stateless: r.Caller.Stateless}
	own := ownCall{&Request{Message: wire.Request(0, method, params), Caller: caller, behalf: r, own: true, declares: true}, make(chan answer, 1)}
	own.request.Reply = func(m wire.Message, err *Error) { own.answer <- answer{m, err} }
	return own
}

// sendFor gives a request of ours to the child process that has made the task of
// r, or to the server over HTTP in whatever session, with the newest credentials.
func (c *Client) sendFor(r, own *Request) {
	c.mu.Lock()
	if k := r.conn; k != nil && c.opts.URL == "" {
		c.mu.Unlock()
		k.give(own)
		return
	}
	own.Header = c.header
	k, refused := c.acceptLocked(own)
	c.mu.Unlock()
	c.dispatch(own, k, refused)
}

// give sends a request on k and nowhere else.
func (k *conn) give(own *Request) {
	k.client.mu.Lock()
	ended := k.ended
	if !ended {
		k.enlistLocked(own)
	}
	k.client.mu.Unlock()
	if ended {
		own.Reply(wire.Message{}, errGone())
		return
	}
	k.write(own, k.outgoing(own))
}

// cancelTask is for a task of r. A server over HTTP that cannot be told at once is
// told later, if that is soon: nobody follows the task any more.
func (c *Client) cancelTask(r *Request, ref taskRef) {
	own := c.sendCancel(r, ref)
	c.spawn(func() {
		for n, began := 1, time.Now(); !c.isCancelled(own) && time.Since(began) < cancelLimit && pause(c.ctx, backoff(n)); n++ {
			own = c.sendCancel(r, ref)
		}
	})
}

func (c *Client) sendCancel(r *Request, ref taskRef) ownCall {
	own := c.onBehalf(r, "tasks/cancel", wire.Set(nil, "taskId", ref.Task))
	c.sendFor(r, own.request)
	return own
}

// isCancelled waits for the answer, whatever it says, and reports whether there is
// no use in another try.
func (c *Client) isCancelled(own ownCall) bool {
	timer := time.NewTimer(cancelWait)
	defer timer.Stop()
	select {
	case a := <-own.answer:
		return a.err == nil || a.err.lasting() != nil || c.opts.URL == ""
	case <-timer.C:
	case <-c.ctx.Done():
	}
	c.Cancel(own.request, wire.Message{})
	return c.opts.URL == "" || c.ctx.Err() != nil
}

// backoff is for a server that could not be asked n times.
func backoff(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return min(firstRetry<<min(n-1, 10), longestBackoff)
}

// expireAll gives up those that have taken too long, to be asked again.
func (f *follow) expireAll(now time.Time, all ...*asked) {
	for _, a := range all {
		if a.open() && a.isDue(now) {
			f.drop(a, wire.Message{})
			a.soon()
		}
	}
}

// until sets timer for the first of those that is due.
func until(timer *time.Timer, all ...*asked) {
	var first time.Time
	for _, a := range all {
		if due := a.due(); !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	if first.IsZero() {
		timer.Stop()
		return
	}
	timer.Reset(time.Until(first))
}
