package taskstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// maxText bounds, in bytes, each field that is not a payload; maxTTL keeps
// sums of durations in range.
const (
	maxText = 64 << 10
	maxTTL  = 100 * 365 * 24 * time.Hour
)

// Create stores a new task and returns it with its id and times. It is durable
// on return (Tasks extension, Creating: a handle only once tasks/get for it would
// succeed). It starts as Working unless t says InputRequired, and only then has
// Inputs. A task whose request has been sent already is Dispatched and keeps no
// Request; what t says of ID, times and Outcome is ignored. TTL must be positive.
// Errors: ErrFull (a *LimitError), ErrNoSpace, ErrTooLarge, ErrClosed, that of ctx
// if it has ended before the call.
func (s *Store) Create(ctx context.Context, t Task) (Task, error) {
	if err := ctx.Err(); err != nil {
		return Task{}, err
	}
	if err := checkNew(&t); err != nil {
		return Task{}, err
	}
	t.ID = s.newID()
	t.CreatedAt = s.now()
	t.UpdatedAt, t.FinishedAt = t.CreatedAt, time.Time{}
	t.Outcome, t.IsError = nil, false
	if t.Dispatched {
		t.Request = nil
	}
	o := newOp(opCreate, t.ID)
	o.task = t
	if err := s.submit(o); err != nil {
		return Task{}, err
	}
	return t, nil
}

func checkNew(t *Task) error {
	if t.Status == "" {
		t.Status = Working
	}
	if t.Status != Working && t.Status != InputRequired {
		return fmt.Errorf("task store: a task cannot start as %q", t.Status)
	}
	if t.Inputs != nil && t.Status != InputRequired {
		return fmt.Errorf("task store: a task that starts as %q cannot have inputs", t.Status)
	}
	if t.TTL <= 0 || t.TTL > maxTTL {
		return fmt.Errorf("task store: a task cannot have a ttl of %v", t.TTL)
	}
	for _, n := range []int{len(t.Owner), len(t.Upstream), len(t.Tool), len(t.StatusMessage), len(t.Progress), len(t.Remote)} {
		if err := checkText(n); err != nil {
			return err
		}
	}
	return cmp.Or(checkPayload("request", t.Request), checkPayload("inputs", t.Inputs))
}

func checkText(n int) error {
	if n > maxText {
		return fmt.Errorf("task store: a text of %d bytes, %d at most: %w", n, maxText, ErrTooLarge)
	}
	return nil
}

func checkPayload(what string, b []byte) error {
	if len(b) > MaxPayload {
		return fmt.Errorf("task store: %s of %d bytes, %d at most: %w", what, len(b), MaxPayload, ErrTooLarge)
	}
	return nil
}

// MarkDispatched records, durably on return, that the request is about to be
// sent, and drops it: it must never be sent again. Call it before sending, and
// send only if it succeeds. Errors: ErrDispatched, ErrFinished, ErrNotFound,
// ErrNoSpace, ErrClosed, that of ctx if it has ended before the call.
func (s *Store) MarkDispatched(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.submit(newOp(opDispatch, id))
	if errors.Is(err, ErrNotFound) {
		_, err = s.settled(id)
	}
	return err
}

// Touch records a sign of life of a running task: UpdatedAt moves, and Get shows
// it at once; the disk gets it within about a second, if the process lives that
// long. An empty statusMessage or nil progress leaves the former one, and so
// does one above 64 KiB. On a task that does not run, Touch does nothing.
func (s *Store) Touch(id, statusMessage string, progress []byte) {
	s.mu.Lock()
	e, ok := s.live[id]
	if !ok || s.closed || e.task.Status.Terminal() {
		s.mu.Unlock()
		return
	}
	known := e.dirty
	e.touch(s.now(), statusMessage, progress)
	s.late = true
	s.tellTouch(id)
	s.mu.Unlock()
	if !known {
		s.wakeCommitter()
	}
}

func (e *entry) touch(now time.Time, statusMessage string, progress []byte) {
	e.task.UpdatedAt = latest(now, e.task.UpdatedAt)
	if statusMessage != "" && len(statusMessage) <= maxText {
		e.task.StatusMessage = statusMessage
	}
	if progress != nil && len(progress) <= maxText {
		e.task.Progress = progress
	}
	e.dirty = true
}

// Outcome is how a task ends. Status is a terminal one; StatusMessage replaces
// that of the task. Payload is the result of a Completed task, the error object
// of a Failed one, nil for a Cancelled one. At most MaxPayload and 64 KiB.
// IsError is for a Completed task only: the result says of itself that it is an
// error, which the tasks of 2025-11-25 call failed and the Tasks extension
// completed.
type Outcome struct {
	Status        Status
	StatusMessage string
	Payload       []byte
	IsError       bool
}

// Finish ends a task. Of several ends the first wins for good; a later one gets
// the task as it stands and ErrFinished. The end is visible once it is durable.
// If the disk refuses it, Finish still succeeds: the end is logged, kept and
// served from memory, and tried again until it is stored or the store is closed
// (see Close). Other errors change nothing: ErrNotFound, ErrTooLarge, ErrFull (a
// *LimitError) for an outcome of more than 4 KiB beyond MaxBytes, to be
// replaced by a short one that says so, which always fits; ErrClosed,
// *DamagedError, that of ctx if it has ended before the call.
func (s *Store) Finish(ctx context.Context, id string, outcome Outcome) (Task, error) {
	if err := ctx.Err(); err != nil {
		return Task{}, err
	}
	if err := outcome.check(); err != nil {
		return Task{}, err
	}
	o := newOp(opFinish, id)
	o.outcome = outcome
	switch err := s.submit(o); {
	case errors.Is(err, ErrFinished), errors.Is(err, ErrNotFound):
		return s.settled(id)
	case errors.Is(err, ErrFull):
		s.dropNamed(id, outcome.Payload)
		return Task{}, err
	case err != nil:
		return Task{}, err
	}
	s.keepNamed(id, outcome.Payload)
	return o.task, nil
}

func (o Outcome) check() error {
	if !o.Status.Terminal() {
		return fmt.Errorf("task store: a task cannot end as %q", o.Status)
	}
	if o.Status == Cancelled && o.Payload != nil {
		return errors.New("task store: a cancelled task has no outcome")
	}
	if o.IsError && o.Status != Completed {
		return fmt.Errorf("task store: a task that ends as %q has no result that is an error", o.Status)
	}
	return cmp.Or(checkText(len(o.StatusMessage)), checkPayload("outcome", o.Payload))
}

// settled returns a task that is not running, and ErrFinished, or why there is
// no such task.
func (s *Store) settled(id string) (Task, error) {
	t, err := s.Get(id)
	if err != nil {
		return Task{}, err
	}
	return t, fmt.Errorf("task %s is %s: %w", id, t.Status, ErrFinished)
}
