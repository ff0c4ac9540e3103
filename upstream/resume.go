package upstream

import (
	"errors"
	"fmt"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Resumable reports whether a server's tasks can be followed by a later process:
// a child process ends with this one, and what it knows with it.
func Resumable(opts Options) bool { return opts.URL != "" }

// Resume is like [Client.Send], but the call of r is not written: it was, by an
// earlier process, and the task that the server made of it, the one of ref, is
// followed ([TaskWish]). A server that cannot be reached is tried again until r is
// taken back. One that does not know the task, or speaks the other era now, gets r
// an [*Error] of reason upstream_task_lost.
func (c *Client) Resume(r *Request, ref []byte) {
	decoded, err := decodeRef(ref)
	if err != nil {
		r.Reply(wire.Message{}, errTaskLost(fmt.Sprintf("what was stored of it cannot be read (%v)", err)))
		return
	}
	f := c.newFollow(r, decoded)
	f.resumed, r.written = true, true
	c.mu.Lock()
	if r.withdrawn {
		c.mu.Unlock()
		f.end()
		return
	}
	if r.Header != nil {
		c.header = r.Header
	}
	begun := f.beginLocked()
	c.mu.Unlock()
	if !begun {
		r.Reply(wire.Message{}, errClosed().with(Unknown))
	}
}

// connect reaches the server, however long that takes.
func (f *follow) connect() bool {
	for failures := 0; ; {
		_, err := f.client.Connect(f.ctx)
		if err == nil {
			f.house()
			return !f.astray()
		}
		var failed *Error
		if errors.As(err, &failed) && failed.lasting() != nil {
			f.fail(failed.lasting())
			return false
		}
		failures++
		if !pause(f.ctx, backoff(failures)) {
			f.stop()
			return false
		}
	}
}

// astray ends the task where the server is another one now.
func (f *follow) astray() bool {
	desc, known := f.client.Describe()
	if !known || desc.Era == f.ref.Generation.era() {
		return false
	}
	f.fail(errTaskLost(fmt.Sprintf("the server speaks the %s era now, in which there are no such tasks", desc.Era)))
	return true
}
