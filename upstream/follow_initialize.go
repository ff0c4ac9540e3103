package upstream

import (
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

const metaRelatedTask = "io.modelcontextprotocol/related-task"

// olderTask is a task of revision 2025-11-25. tasks/result blocks until the task is
// done, brings what the call itself would have, and over HTTP the server may ask on
// its stream: it is opened at once and kept open. tasks/get beside it says what
// becomes of the task meanwhile, and what an error of tasks/result means.
type olderTask struct {
	*follow
	get    asked
	result asked
	timer  *time.Timer

	refused wire.Message // the error of tasks/result, while nobody knows whether it is the call's
	gone    wire.Message // the error of tasks/get; then the result is waited for until lost
	lost    asked        // only its time counts
}

const (
	// lostGrace is for a result on its way, of a task that the server forgets with
	// it.
	lostGrace = 5 * time.Second
	// resultGrace is how long the result of a task that is done may take before it
	// is asked for anew.
	resultGrace = 30 * time.Second
)

func (f *follow) followOlder() {
	t := &olderTask{follow: f, timer: time.NewTimer(0)}
	defer t.leave()
	t.result.soon()
	t.get.in(f.pace)
	if !f.born() {
		t.get.soon()
	}
	for f.ctx.Err() == nil {
		t.send()
		until(t.timer, &t.get, &t.result, &t.lost)
		select {
		case a := <-t.get.answer():
			t.got(a)
		case a := <-t.result.answer():
			t.gotResult(a)
		case <-f.news:
			t.hearNews()
		case <-t.timer.C:
		case <-f.ctx.Done():
		}
	}
	f.stop()
}

func (t *olderTask) leave() {
	t.timer.Stop()
	t.drop(&t.get, wire.Message{})
	t.drop(&t.result, wire.Message{})
}

// send makes the requests that are due, and gives up those that have taken too
// long.
func (t *olderTask) send() {
	now := time.Now()
	if t.lost.isDue(now) {
		t.fail(errTaskUnknown(t.gone))
		return
	}
	t.expireAll(now, &t.get, &t.result)
	if !t.get.open() && t.get.isDue(now) {
		t.ask(&t.get, ownLimit, t.own("tasks/get", nil))
	}
	if !t.result.open() && t.result.isDue(now) {
		t.ask(&t.result, 0, t.own("tasks/result", nil))
	}
}

// moved opens tasks/result on the session that there is now, if there is another
// one: what the former still has to say concerns nobody.
func (t *olderTask) moved(a answer) {
	if a.err == nil && t.house() && t.result.open() && t.former(t.result.own.request) {
		t.drop(&t.result, wire.Message{})
		t.result.soon()
	}
}

// former reports whether own went out on a session that is gone.
func (f *follow) former(own *Request) bool {
	f.client.mu.Lock()
	defer f.client.mu.Unlock()
	return own.conn != nil && own.conn != f.request.conn
}

// got takes the answer to tasks/get.
func (t *olderTask) got(a answer) {
	t.moved(a)
	got := t.read(a)
	t.get.over(got.task == nil)
	t.get.in(t.pace)
	switch {
	case t.astray():
	case got.final != nil:
		t.fail(got.final)
	case got.task != nil:
		t.status(got)
	case got.gone.Raw() != nil:
		t.forgotten(got.gone)
	case got.none:
		t.get.never() // tasks/result alone has to do
		t.decide()
	default:
		t.get.in(max(t.pace, backoff(t.get.failures)))
	}
}

func (t *olderTask) status(got reading) {
	switch {
	case got.status == "cancelled":
		t.fail(errTaskCancelled(statusMessage(got.task)))
	case t.refused.Raw() != nil && got.status == "completed":
		t.fail(errResultRefused(t.refused))
	case t.refused.Raw() != nil && isFinal(got.status):
		t.finish(t.refused, nil) // what the call itself would have got
	case t.refused.Raw() != nil: // it does not block
		t.refused = wire.Message{}
		t.result.in(t.pace)
	case !isFinal(got.status) && got.status != "input_required":
	case !t.result.open(): // what the server asks comes on it, too
		t.result.soon()
	case isFinal(got.status) && t.result.limit.IsZero():
		t.result.limit = time.Now().Add(resultGrace)
	}
}

// forgotten: the server may have answered tasks/result and dropped the task.
func (t *olderTask) forgotten(gone wire.Message) {
	switch {
	case t.refused.Raw() != nil && !unknownTask(t.refused):
		t.finish(t.refused, nil)
	case t.result.open():
		t.gone = gone
		t.get.never()
		t.lost.in(lostGrace)
	default:
		t.fail(errTaskUnknown(gone))
	}
}

// decide says what an error of tasks/result means where tasks/get is of no help.
func (t *olderTask) decide() {
	switch refused := t.refused; {
	case refused.Raw() == nil:
	case unknownTask(refused), string(wire.Get(refused.Err(), "code")) == "-32601":
		t.fail(errTaskUnknown(refused))
	default:
		t.finish(refused, nil)
	}
}

// gotResult takes the answer to tasks/result.
func (t *olderTask) gotResult(a answer) {
	t.moved(a)
	t.result.over(a.err != nil)
	t.result.never()
	switch {
	case t.astray():
	case a.err != nil:
		t.cut(a.err)
	case a.message.Result() != nil:
		t.finish(t.response(a.message), nil)
	case t.gone.Raw() != nil:
		t.refused = a.message
		t.decide()
	default:
		t.refuse(a.message)
	}
}

func (t *olderTask) refuse(m wire.Message) {
	t.refused = m
	switch {
	case t.get.open():
	case t.get.next.IsZero():
		t.decide()
	default:
		t.get.soon()
	}
}

// cut: to read twice does no harm. The owner's limits end it.
func (t *olderTask) cut(err *Error) {
	switch {
	case err.lasting() != nil:
		t.fail(err.lasting())
	case err.Reason == "upstream_invalid":
		t.fail(err)
	case t.gone.Raw() != nil:
		t.fail(errTaskUnknown(t.gone))
	default:
		t.result.in(max(t.pace, backoff(t.result.failures)))
	}
}

// hearNews takes the server's own word on the task (revision 2025-11-25, Tasks,
// Task Status Notification), which may be late: what it means is asked for.
func (t *olderTask) hearNews() {
	task := t.takeHeard()
	if task == nil {
		return
	}
	got := t.readTask(task)
	if got.status != "working" && !t.get.open() && !t.get.next.IsZero() {
		t.get.soon()
	}
}

// response is the answer as the call itself would have had it: tasks/result adds a
// member to _meta (revision 2025-11-25, Tasks, Related Task Metadata).
func (f *follow) response(m wire.Message) wire.Message {
	return m.With(wire.Changes{ID: f.requestID(), Result: wire.DeleteIn(m.Result(), "_meta", metaRelatedTask)})
}
