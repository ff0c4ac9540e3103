package taskstate

import (
	"math"
	"slices"
	"time"
)

// Status is where a task stands in its life.
type Status string

// The five states of a task. The last three are terminal: final for good.
const (
	Working       Status = "working"
	InputRequired Status = "input_required"
	Completed     Status = "completed"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
)

// lifecycle is the whole life of a task: from each state, the states that may
// follow (revision 2025-11-25, Tasks, "Task Status Lifecycle"; the Tasks
// extension keeps it). A terminal state has none.
var lifecycle = map[Status][]Status{
	Working:       {InputRequired, Completed, Failed, Cancelled},
	InputRequired: {Working, Completed, Failed, Cancelled},
	Completed:     nil,
	Failed:        nil,
	Cancelled:     nil,
}

// Terminal reports whether s is final. An unknown status is not.
func (s Status) Terminal() bool {
	next, known := lifecycle[s]
	return known && len(next) == 0
}

// canBecome reports whether the lifecycle table has a step from s to next.
func (s Status) canBecome(next Status) bool {
	return slices.Contains(lifecycle[s], next)
}

// Task is a snapshot. Its byte slices are shared and never modified by anyone,
// the caller who handed them in included.
type Task struct {
	ID string // URL-safe, 128 bits or more of chance; assigned by Create

	// Who asked, which upstream and tool runs it. Opaque to this package; no
	// more than 64 KiB each.
	Owner, Upstream, Tool string

	Status        Status
	StatusMessage string
	Progress      []byte // JSON, or nil

	// CreatedAt and FinishedAt (zero until the end) are set once. UpdatedAt
	// moves with Create, Touch, SetInputs and Finish only: MarkDispatched is our own
	// bookkeeping and would hide a stall of the upstream.
	CreatedAt, UpdatedAt, FinishedAt time.Time

	TTL          time.Duration // how long the outcome is kept after the end
	PollInterval time.Duration
	MaxRun       time.Duration
	Stall        time.Duration

	Dispatched bool   // the request may have reached the upstream
	IsError    bool   // Completed, with a result that says of itself that it is an error
	Remote     []byte // where the upstream keeps a task of its own for this one, opaque, no more than 64 KiB; nil once finished
	Request    []byte // what must be sent; gone once Dispatched, or finished
	Inputs     []byte // the open questions, a JSON object; only while InputRequired, and nil again after a restart
	Outcome    []byte // Completed: the result; Failed: the error object; else nil
}

// Retention is how long the task is kept, counted from CreatedAt: what the wire
// calls ttl (2025-11-25) or ttlMs (Tasks extension). It begins as TTL and, while
// the task runs, grows in steps of half of it, so that it always reaches further
// than that half past now: a working task never expires. Once the task is
// finished it no longer changes.
func (t Task) Retention(now time.Time) time.Duration {
	if t.Status.Terminal() {
		return t.FinishedAt.Sub(t.CreatedAt) + t.TTL
	}
	if t.TTL <= 0 {
		return math.MaxInt64
	}
	elapsed, step := max(now.Sub(t.CreatedAt), 0), max(t.TTL/2, 1)
	return t.TTL + elapsed/step*step
}

// expired reports whether a finished task has outlived its retention.
func (t Task) expired(now time.Time) bool {
	return t.Status.Terminal() && !now.Before(t.expiry())
}

// expiry is when a finished task is no longer kept.
func (t Task) expiry() time.Time { return t.FinishedAt.Add(t.TTL) }
