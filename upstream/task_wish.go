package upstream

import (
	"strconv"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// TaskWish says that the server may make a task of its own of a tools/call, and
// is asked to where its era has a way to. The task is followed here: Request.Reply
// gets what the call itself would have got, and Request.Ask what the server asks
// meanwhile.
type TaskWish struct {
	// TTL is how long the server is asked to keep the task, from its creation
	// on (revision 2025-11-25, Tasks, Task Parameters; the Tasks extension has
	// no such wish). 0 leaves that to the server.
	TTL time.Duration
	// Made says that the server has made a task; ref, at most 4 KiB, is all that
	// [Client.Resume] needs. It is called once, before the task is followed, on
	// a goroutine that may wait. Nil drops it.
	Made func(ref []byte)
	// Status takes what the server says of its task, at most 1,000 bytes; "" is
	// a mere sign of life. It is called on the goroutine that follows the task,
	// which must not wait long. Nil drops it.
	Status func(message string)
}

// made and status are for requests without a wish, too: the task may be one that
// the tool requires.
func (w *TaskWish) made(ref []byte) {
	if w != nil && w.Made != nil {
		w.Made(ref)
	}
}

func (w *TaskWish) status(message string) {
	if w != nil && w.Status != nil {
		w.Status(message)
	}
}

// param is the task member of a call (revision 2025-11-25, Tasks, Creating
// Tasks).
func (w *TaskWish) param() []byte {
	if w == nil || w.TTL <= 0 {
		return []byte("{}")
	}
	return wire.Set(nil, "ttl", strconv.AppendInt(nil, w.TTL.Milliseconds(), 10))
}
