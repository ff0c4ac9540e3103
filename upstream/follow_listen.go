package upstream

import (
	"slices"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// wantListen has the server say what becomes of a task that was not done at once
// (Tasks extension, Task Status Notifications). Whether it can, it does not say
// before it is asked.
func (t *extensionTask) wantListen() {
	if !t.listened {
		t.listened = true
		t.listen.soon()
	}
}

func (t *extensionTask) openListen() {
	filter := wire.Set(nil, "taskIds", wire.Array([][]byte{t.ref.Task}))
	own := t.client.onBehalf(t.request, "subscriptions/listen", wire.Set(nil, "notifications", filter))
	own.request.Notify = t.listenEvent
	t.ask(&t.listen, 0, own)
}

// listenEvent runs on the goroutine that reads from the server.
func (f *follow) listenEvent(m wire.Message) {
	if m.Method() == "notifications/tasks" {
		f.hearOwn(m)
		return
	}
	if m.Method() != "notifications/subscriptions/acknowledged" {
		return
	}
	ids := stringsOf(wire.Lookup(m.Params(), "notifications", "taskIds"))
	f.mu.Lock()
	f.acked, f.agreed = true, slices.Contains(ids, f.ref.id())
	f.mu.Unlock()
	f.poke()
}

// hearOwn passes over what is about another task.
func (f *follow) hearOwn(m wire.Message) {
	if id, _ := wire.String(wire.Get(m.Params(), "taskId")); id == f.ref.id() {
		f.hear(m.Params())
	}
}

func (f *follow) takeAcknowledgement() (acked, agreed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	acked, agreed = f.acked, f.agreed
	f.acked, f.agreed = false, false
	return acked, agreed
}

// hearListen takes the server's answer to the wish. What happened before it is
// asked for.
func (t *extensionTask) hearListen() {
	acked, agreed := t.takeAcknowledgement()
	switch {
	case !acked || !t.listen.open():
	case agreed:
		t.listening = true
		t.look()
	default:
		t.drop(&t.listen, wire.Notification("notifications/cancelled", nil))
		t.listen.never()
	}
}

// listenOver: a stream that was cut is taken up again. Of a server that does not
// listen, or not any more, the task is asked for as before.
func (t *extensionTask) listenOver(a answer) {
	t.hearListen() // it may have ended at once
	t.listen.over(a.err != nil)
	t.listen.never()
	if !t.listening {
		return
	}
	t.listening = false
	if a.err != nil {
		t.listen.in(backoff(t.listen.failures))
	}
	t.look()
}
