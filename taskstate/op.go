package taskstate

import (
	"errors"
	"fmt"
	"time"
)

type opKind int

const (
	opCreate opKind = iota
	opDispatch
	opFinish
	opInput   // opens or closes the questions of a task
	opRemote  // writes where the upstream keeps its task
	opRevoke  // deletes a task whose Create failed
	opRestate // writes all of a running task
	opTouch   // writes what Touch changed in memory
	opRetry   // writes an end that the disk refused before
	opExpire  // deletes what is no longer kept
	opRedate  // moves entries in the index of expiry
	opFlush   // makes Badger flush; a batch of its own
	opRotate  // makes Badger begin another file of the value log; a batch of its own
)

// errMoot: an op of our own that has nothing left to do.
var errMoot = errors.New("nothing to do")

// op is one change. Until done is closed it belongs to the committer.
type op struct {
	kind    opKind
	id      string
	task    Task // opCreate: what to store; else set by stage: the task after the change
	outcome Outcome
	inputs  []byte        // opInput: nil if no question is open any more
	remote  []byte        // opRemote
	due     time.Time     // opFinish, opRetry: set by stage: when the end may be deleted
	until   time.Time     // opExpire: what expires up to then, at least up to now
	gone    []expiredTask // opExpire: set by the committer
	from    []byte        // opRedate: where in the index to begin
	moved   []redated     // opRedate: set by the committer, with next
	next    []byte
	dropped int64 // set by stage: length of the request that the change drops

	refused bool // the condition did not hold; err says which
	err     error
	done    chan struct{}
}

func newOp(kind opKind, id string) *op {
	return &op{kind: kind, id: id, done: make(chan struct{})}
}

// size is about what the op writes, in bytes.
func (o *op) size() int64 {
	const headerAndIndex = 1 << 10
	t := &o.task
	outcome := max(len(t.Outcome), len(o.outcome.Payload)) // the same, once it is staged
	return headerAndIndex + int64(len(t.Request)+outcome+len(t.Progress)+len(t.StatusMessage)+len(t.Remote)+len(o.remote))
}

// alone reports whether the op is no transaction.
func (o *op) alone() bool { return o.kind == opFlush || o.kind == opRotate }

// stage decides the op against cur, the task as it stands before it (ops
// earlier in the batch included), and sets what is to be written.
func (o *op) stage(cur Task, unsaved bool, now time.Time) error {
	done := cur.Status.Terminal()
	switch {
	case o.kind == opRetry && !unsaved, o.kind == opTouch && done,
		o.kind == opInput && o.inputs == nil && cur.Status == Working:
		return errMoot
	case done && (o.kind == opDispatch || o.kind == opInput || o.kind == opRemote), o.kind == opFinish && !cur.Status.canBecome(o.outcome.Status):
		return ErrFinished
	case o.kind == opDispatch && cur.Dispatched:
		return ErrDispatched
	}
	o.dropped = payloadLen(cur.Request)
	o.task = o.apply(cur, now)
	o.due = dueAt(o.task, now)
	return nil
}

// apply returns t after the change.
func (o *op) apply(t Task, now time.Time) Task {
	switch o.kind {
	case opDispatch:
		t.Dispatched, t.Request = true, nil
	case opFinish:
		t.Status, t.StatusMessage, t.Outcome = o.outcome.Status, o.outcome.StatusMessage, o.outcome.Payload
		t.FinishedAt = latest(now, t.UpdatedAt)
		t.UpdatedAt, t.IsError = t.FinishedAt, o.outcome.IsError
		t.Request, t.Inputs, t.Remote = nil, nil, nil
	case opRemote:
		t.Remote = o.remote
	case opInput: // other questions of a task that asks already are no step of the lifecycle
		t.Status, t.Inputs = Working, o.inputs
		if o.inputs != nil {
			t.Status = InputRequired
		}
		t.UpdatedAt = latest(now, t.UpdatedAt)
	}
	return t
}

// latest keeps times in order when the clock is set back.
func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// put adds what the op changes to w.
func (o *op) put(w *writer) {
	if o.kind != opExpire && o.kind != opRevoke && o.kind != opRedate {
		w.set(headerKey(o.id), headerOf(o.task).encode())
	}
	switch o.kind {
	case opCreate, opRestate:
		w.set(runningKey(o.id), nil)
		w.set(listKey(o.task.Owner, listPosition(o.task)), nil)
		w.setPayload(requestKey(o.id), o.task.Request)
	case opDispatch:
		w.delete(requestKey(o.id))
	case opFinish, opRetry:
		w.setPayload(outcomeKey(o.id), o.task.Outcome)
		w.set(expiryKey(o.due, o.id), expiryEntry(o.task, payloadLen(o.task.Outcome)))
		w.delete(runningKey(o.id))
		w.delete(requestKey(o.id))
	case opRevoke:
		for _, key := range [][]byte{headerKey(o.id), requestKey(o.id), runningKey(o.id), listKey(o.task.Owner, listPosition(o.task))} {
			w.delete(key)
		}
	case opExpire:
		for _, g := range o.gone {
			g.delete(w)
		}
	case opRedate:
		for _, m := range o.moved {
			w.delete(m.old)
			w.set(m.new, m.body)
		}
	}
}

// failed is the error a caller gets for a change that was not stored.
func (o *op) failed() error {
	if o.err == nil || o.refused || errors.Is(o.err, ErrNoSpace) {
		return o.err
	}
	return fmt.Errorf("task store: %w", o.err)
}
