package taskstate

import (
	"errors"
	"fmt"
	"time"
)

// The errors that callers tell apart with errors.Is.
var (
	// ErrNotFound: no such task, or its retention is over.
	ErrNotFound = errors.New("no such task")
	// ErrFinished: the task already has a terminal state, which stands.
	ErrFinished = errors.New("the task has already ended")
	// ErrDispatched: the task has been marked dispatched before.
	ErrDispatched = errors.New("the task has already been dispatched")
	// ErrNoSpace: the disk is too full to write safely. Nothing was stored.
	ErrNoSpace = errors.New("not enough free disk space")
	// ErrFull: one of the store's own limits is reached; the error is a
	// *LimitError. Nothing was stored.
	ErrFull = errors.New("the task store is full")
	// ErrTooLarge: a request, outcome or inputs above MaxPayload, or another
	// field above 64 KiB. Nothing was stored.
	ErrTooLarge = errors.New("too large to store")
	// ErrBadCursor: a cursor that List did not give, or not for this owner.
	ErrBadCursor = errors.New("no such place in the list of tasks")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("the task store is closed")
)

// HeldError says that another process has the directory open.
type HeldError struct {
	Dir    string
	PID    int           // of the holder; 0 if it cannot be told
	Waited time.Duration // how long Open waited for it
}

func (e *HeldError) Error() string {
	holder := "another process"
	if e.PID > 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("task store %s is in use by %s (waited %v): end that process or use another directory",
		e.Dir, holder, e.Waited)
}

// DamagedError says that what lies on disk is not what was written. It is
// returned instead of the wrong bytes.
type DamagedError struct {
	Dir string
	ID  string // the task; empty if the store as a whole is damaged
	Why string
}

func (e *DamagedError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("task store %s is damaged: %s; nothing in it was run: check the disk, then put back a copy of the directory, or start once with --repair, which moves its files aside without deleting any and begins an empty store",
			e.Dir, e.Why)
	}
	return fmt.Sprintf("task %s is damaged in store %s: %s; what it held is lost: check the disk, and repeat the call only if running it twice does no harm",
		e.ID, e.Dir, e.Why)
}

// LimitError says which limit of the store is reached. It is ErrFull.
type LimitError struct {
	Limit string // "stored" (MaxTasks) or "store_bytes" (MaxBytes)
	Value int64  // of the limit: tasks or bytes
	Used  int64  // how much of it is in use
}

func (e *LimitError) Error() string {
	if e.Limit == limitStored {
		return fmt.Sprintf("%v (%d tasks are stored, limits.%s is %d); there is room again when finished tasks outlive their ttl, and a smaller ttl or a higher limit helps for good",
			ErrFull, e.Used, e.Limit, e.Value)
	}
	return fmt.Sprintf("%v (%d of %d bytes are in use, limits.%s, an eighth of it for results only); there is room again when finished tasks outlive their ttl, and a smaller ttl or a higher limit helps for good",
		ErrFull, e.Used, e.Value, e.Limit)
}

// Is makes every LimitError ErrFull.
func (e *LimitError) Is(target error) bool { return target == ErrFull }

const (
	limitStored = "stored"
	limitBytes  = "store_bytes"
)
