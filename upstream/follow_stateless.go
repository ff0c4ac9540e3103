package upstream

import (
	"errors"
	"strconv"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// extensionTask is a task of the Tasks extension. tasks/get says all there is to
// know of it, and the server may say when that has changed.
type extensionTask struct {
	*follow
	get       asked
	stale     bool // something has happened since the open one was sent
	update    asked
	listen    asked
	listened  bool // listen has been asked
	listening bool // and taken
	timer     *time.Timer
	inputs    inputs
}

// listeningPoll is for a server that says by itself when something is new.
const listeningPoll = 30 * time.Second

func (f *follow) followExtension() {
	t := &extensionTask{follow: f, timer: time.NewTimer(0), inputs: newInputs()}
	defer t.leave()
	t.get.in(f.pace)
	if !f.born() {
		t.get.soon()
	}
	for f.ctx.Err() == nil {
		t.send()
		until(t.timer, &t.get, &t.update, &t.listen)
		select {
		case a := <-t.get.answer():
			t.got(a)
		case a := <-t.update.answer():
			t.updated(a)
		case a := <-t.listen.answer():
			t.listenOver(a)
		case <-f.news:
			t.hearNews()
		case <-t.timer.C:
		case <-f.ctx.Done():
		}
	}
	f.stop()
}

func (t *extensionTask) leave() {
	t.timer.Stop()
	t.drop(&t.get, wire.Message{})
	t.drop(&t.update, wire.Message{})
	t.drop(&t.listen, wire.Notification("notifications/cancelled", nil))
}

func (t *extensionTask) send() {
	now := time.Now()
	t.expireAll(now, &t.get)
	if !t.get.open() && t.get.isDue(now) {
		t.ask(&t.get, ownLimit, t.own("tasks/get", nil))
	}
	if !t.listen.open() && t.listen.isDue(now) {
		t.openListen()
	}
	switch {
	case !t.update.isDue(now):
	case t.update.open(): // somebody on the way has forgotten it
		t.drop(&t.update, wire.Message{})
		t.updateAgain(1)
	default:
		t.sendAnswers()
	}
}

// look asks for the task at once, in its state from now on.
func (t *extensionTask) look() {
	if t.stale = t.get.open(); !t.stale {
		t.get.soon()
	}
}

// got takes the answer to tasks/get (Tasks extension, Task Polling).
func (t *extensionTask) got(a answer) {
	if a.err == nil {
		t.house()
	}
	got := t.read(a)
	t.get.over(got.task == nil)
	t.get.in(max(t.interval(), backoff(t.get.failures)))
	switch {
	case t.astray():
	case got.final != nil:
		t.fail(got.final)
	case got.gone.Raw() != nil, got.none:
		t.fail(errTaskUnknown(a.message))
	case isFinal(got.status):
		t.finish(t.outcome(got))
	case got.task != nil:
		t.present(got)
		t.wantListen()
	}
	if t.stale {
		t.look()
	}
}

// interval is the time between two polls.
func (t *extensionTask) interval() time.Duration {
	if t.listening {
		return max(t.pace, listeningPoll)
	}
	return t.pace
}

// outcome is what the call itself would have got (Tasks extension, Task Execution
// Errors).
func (t *extensionTask) outcome(got reading) (wire.Message, *Error) {
	message := statusMessage(got.task)
	result, object := wire.Get(got.task, "result"), wire.Get(got.task, "error")
	switch {
	case got.status == "cancelled":
		return wire.Message{}, errTaskCancelled(message)
	case got.status == "completed" && wire.IsObject(result) && isComplete(result):
		return wire.Result(t.requestID(), result), nil
	case got.status == "failed" && wire.IsObject(object):
		return failureOf(t.requestID(), object), nil
	}
	return wire.Message{}, errMalformed(errors.New("its task is " + got.status + ", and without a result or error of that kind" + quoted(message)))
}

// isComplete: the end of a task is no question, and no other task.
func isComplete(result []byte) bool {
	kind := wire.Get(result, "resultType")
	return kind == nil || string(kind) == `"complete"`
}

// failureOf is a response with an error object that passes as it is.
func failureOf(id, object []byte) wire.Message {
	m, err := wire.Parse(wire.Set(wire.Set(wire.Set(nil, "error", object), "id", id), "jsonrpc", []byte(`"2.0"`)))
	if err != nil {
		return wire.Failure(id, wire.Errorf(wire.CodeInternal, "The upstream server's error cannot be used: %v.", err))
	}
	return m
}

// hearNews takes what has come for the goroutine.
func (t *extensionTask) hearNews() {
	t.takeReplies()
	t.hearListen()
	if task := t.takeHeard(); task != nil {
		if got := t.readTask(task); got.status != "working" || t.inputs.open > 0 {
			t.look()
		}
	}
}

func (f *follow) requestID() []byte {
	f.client.mu.Lock()
	defer f.client.mu.Unlock()
	return strconv.AppendInt(nil, f.request.id, 10)
}
