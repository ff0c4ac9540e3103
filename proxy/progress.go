package proxy

import (
	"bytes"
	"fmt"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// progress takes a progress notification of the upstream server: to the host
// as long as the call is unanswered, or it wants more, to the task from then on. It runs on the
// goroutine that reads from the server.
func (r *run) progress(m wire.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.req.Progress != nil && (r.open || r.req.ProgressLasts && r.goesOnLocked()) {
		r.req.Progress(r.beats.passed(m))
	}
	if r.taskID == "" {
		r.early = m.Params()
		return
	}
	r.touch(m.Params())
	r.aliveLocked()
}

// goesOnLocked: the run has not come to its end, nor been told to.
func (r *run) goesOnLocked() bool {
	return r.stage == quick || r.stage == pending && r.ctx.Err() == nil
}

// aside takes what else the server sends on the call's own stream: there is no
// place for it on a task (Tasks extension, Task Notifications).
func (r *run) aside(m wire.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open && r.req.Aside != nil {
		r.req.Aside(m)
	}
}

func (r *run) touch(params []byte) {
	r.proxy.opts.Tasks.store.Touch(r.taskID, short(statusMessage(params)), progressMeta(params))
}

// statusMessage puts progress in words: "3/10 linking", "55 % linking".
func statusMessage(params []byte) string {
	progress, total := wire.Get(params, "progress"), wire.Get(params, "total")
	message, _ := wire.String(wire.Get(params, "message"))
	text := message
	switch {
	case progress == nil:
	case string(total) == "100":
		text = fmt.Sprintf("%s %% %s", progress, message)
	case total != nil && !bytes.Equal(total, []byte("null")):
		text = fmt.Sprintf("%s/%s %s", progress, total, message)
	case message == "":
		text = string(progress)
	}
	return string(bytes.TrimSpace([]byte(text)))
}

// progressMeta keeps the numbers as the server wrote them.
func progressMeta(params []byte) []byte {
	var meta []byte
	for _, key := range []string{"message", "total", "progress"} {
		if value := wire.Get(params, key); value != nil {
			meta = wire.Set(meta, key, value)
		}
	}
	return meta
}
