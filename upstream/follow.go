package upstream

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// follow is the life of one task that the server has made of a request. Its one
// goroutine is Client.work's, and ends with the task, with Cancel or with the
// client. All the while the request stays open on its session, to be found for
// what the server asks and for progress.
//
// A child process ends with its session, and its tasks with it. A server over HTTP
// may know them still in the next session: then the request moves on to that
// (house).
type follow struct {
	client  *Client
	request *Request
	ref     taskRef
	resumed bool
	status  string        // in which the server gave it; empty if resumed
	message string        // that came with it
	pace    time.Duration // between polls; of the goroutine
	said    string        // the last statusMessage
	ctx     context.Context
	end     context.CancelFunc
	release func() // of the client, which is not idle meanwhile

	over bool // the request is not open any more; under Client.mu

	news    chan struct{} // there is something below; room for one
	mu      sync.Mutex
	heard   []byte // the newest notification of the task: a task object; nil for none
	acked   bool   // the server has answered the wish to be notified
	agreed  bool   // with a yes
	replies []inputReply
}

const (
	leastPoll   = 50 * time.Millisecond
	usualPoll   = time.Second
	longestPoll = time.Minute
	// longestBackoff is between tries while the server cannot be reached. How many
	// there are is for the owner of the request to say.
	longestBackoff = 30 * time.Second
	maxTaskStatus  = 1000 // bytes
	// cancelLimit is how long a server is tried that is to be told of a cancel,
	// cancelWait how long one may take to answer.
	cancelLimit = 5 * time.Minute
	cancelWait  = 30 * time.Second
)

func (c *Client) newFollow(r *Request, ref taskRef) *follow {
	f := &follow{client: c, request: r, ref: ref, pace: ref.pace(), news: make(chan struct{}, 1)}
	f.ctx, f.end = context.WithCancel(c.ctx)
	return f
}

// beginLocked returns false where there is nobody to follow any more.
func (f *follow) beginLocked() bool {
	c := f.client
	if c.closed {
		f.end()
		return false
	}
	f.request.answered, f.request.follow = true, f
	f.release = c.keepLocked()
	if c.tasks[f.ref.id()] == nil {
		c.tasks[f.ref.id()] = f
	}
	c.work.Go(f.run)
	return true
}

// overLocked is for the end of the request, whoever has brought it about.
func (f *follow) overLocked() {
	f.over = true
	if c := f.client; c.tasks[f.ref.id()] == f {
		delete(c.tasks, f.ref.id())
	}
	f.end()
}

func (f *follow) run() {
	defer f.release()
	defer f.end()
	if !f.resumed {
		f.request.Task.made(f.ref.encode())
		f.tell(f.message)
	} else if !f.connect() {
		return
	}
	if f.ref.Generation == olderTasks {
		f.followOlder()
	} else {
		f.followExtension()
	}
}

// finish gives the request its end, unless it has got one.
func (f *follow) finish(m wire.Message, err *Error) (ended bool) {
	c, r := f.client, f.request
	c.mu.Lock()
	k, open := r.conn, !f.over
	if open && k != nil {
		k.takeLocked(r.id)
	}
	f.overLocked()
	c.mu.Unlock()
	if open && k != nil {
		k.rehome()
	}
	if open {
		r.Reply(m, err)
	}
	return open
}

func (f *follow) fail(err *Error) (ended bool) { return f.finish(wire.Message{}, err) }

// stop is for the end of the client. That of the request comes before.
func (f *follow) stop() { f.fail(errClosed().with(Unknown)) }

// giveUp ends a task that has no end of its own.
func (f *follow) giveUp(err *Error) {
	if f.fail(err) {
		f.cancel()
	}
}

// cancel has the server cancel the task (revision 2025-11-25, Tasks, Cancelling
// Tasks; Tasks extension, Task Cancellation). Whatever it answers, nobody waits.
func (f *follow) cancel() { f.client.cancelTask(f.request, f.ref) }

// house has the request count as open on the newest session over HTTP. What the
// former one had asked is void.
func (f *follow) house() (moved bool) {
	c := f.client
	c.mu.Lock()
	void, moved := f.houseLocked(c.conn)
	c.mu.Unlock()
	for _, q := range void {
		<-q.handed
		if q.withdraw != nil {
			q.withdraw()
		}
	}
	return moved
}

func (f *follow) houseLocked(k *conn) (void []*question, moved bool) {
	r := f.request
	former := r.conn
	switch {
	case f.over || k == nil || k == former:
		return nil, false
	case former == nil:
		k.enlistLocked(r)
		return nil, true
	}
	for q := range former.questions {
		if q.request == r && former.settleLocked(q) {
			void = append(void, q)
		}
	}
	delete(former.open, r.id)
	former.logging.countLocked(r, -1)
	r.conn, k.open[r.id] = k, r
	k.logging.countLocked(r, 1)
	return void, true
}

// born reports whether the task was made and is at work. Servers may have it done
// by then, or know what to ask.
func (f *follow) born() bool { return !f.resumed && (f.status == "working" || f.status == "") }

// poke wakes the goroutine.
func (f *follow) poke() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// hear takes a notification about the task.
func (f *follow) hear(task []byte) {
	f.mu.Lock()
	f.heard = task
	f.mu.Unlock()
	f.poke()
}

func (f *follow) takeHeard() (task []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	task, f.heard = f.heard, nil
	return task
}
