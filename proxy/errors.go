package proxy

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// cause is why a task ends before its answer, in a sentence for people and
// models: it becomes the task's statusMessage.
type cause string

func (c cause) Error() string { return string(c) }

const (
	errCancelled  cause = "The client cancelled the task. If its call had been sent, the upstream server was told; what it had done until then stays."
	errShutdown   cause = "The proxy shut down while the task was running."
	errRestarted  cause = "The proxy was restarted while the task was running, and with it the connection to the upstream server."
	errUnsendable cause = "The proxy was restarted before it had sent the call, and cannot read what it had stored of it."
	// errHeadersGone: without them the call would be made in another's name.
	errHeadersGone cause = "The proxy was restarted before it had sent the call, and does not store the client's headers that belong to it."
	// errFollowHeadersGone: the server would not tell anybody else.
	errFollowHeadersGone cause = "The proxy was restarted while the server worked on a task of its own, and does not store the client's headers that are needed to ask for it."
)

// limitError: the task ran into a limit of its own policy.
type limitError struct {
	reason string // the policy's key
	limit  time.Duration
	text   string
}

func (e *limitError) Error() string { return e.text }

func tooLong(limit time.Duration) error {
	return &limitError{"max_run", limit, fmt.Sprintf(
		"The task was ended because it ran longer than max_run (%s) allows.", duration(limit))}
}

func (r *run) stalled() error {
	return &limitError{"stall", r.policy.Stall, fmt.Sprintf(
		"The task was ended because the upstream server showed no sign of life for %s (stall); max_run is %s.", duration(r.policy.Stall), duration(r.policy.MaxRun))}
}

// errorData is the data of an error that the proxy makes: what happened, for
// programs, and what became of the work.
type errorData struct {
	Reason  string           `json:"reason"`
	Outcome upstream.Outcome `json:"outcome"`
	Limit   string           `json:"limit,omitempty"`
}

// wireError explains a cause to the host. The outcome says whether the call
// can have reached the server.
func wireError(cause error, outcome upstream.Outcome) *wire.Error {
	var fromUpstream *upstream.Error
	if errors.As(cause, &fromUpstream) {
		return fromUpstream.Wire()
	}
	data := errorData{Reason: reasonOf(cause), Outcome: outcome}
	var limit *limitError
	if errors.As(cause, &limit) {
		data.Limit = limit.limit.String()
	}
	var full *taskstate.LimitError
	if errors.As(cause, &full) {
		data.Limit = fmt.Sprintf("%s: %d", full.Limit, full.Value)
	}
	return &wire.Error{Code: wire.CodeInternal, Message: sentence(cause) + " " + outcome.Sentence(), Data: data}
}

// sentence says what can be done about an error of the task store.
func sentence(err error) string {
	var own cause
	var limit *limitError
	if errors.As(err, &own) || errors.As(err, &limit) {
		return err.Error()
	}
	return "The proxy could not store the call as a task: " + StoreText(err) + "."
}

func reasonOf(cause error) string {
	var limit *limitError
	switch {
	case errors.As(cause, &limit):
		return limit.reason
	case errors.Is(cause, errShutdown):
		return "shutdown"
	case errors.Is(cause, errRestarted), errors.Is(cause, errUnsendable), errors.Is(cause, errHeadersGone), errors.Is(cause, errFollowHeadersGone):
		return "proxy_restarted"
	case errors.Is(cause, taskstate.ErrNoSpace):
		return "no_space"
	case errors.Is(cause, taskstate.ErrFull):
		return "limit"
	}
	return "storage"
}

func errResultType(kind string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: fmt.Sprintf("The upstream server answered with a result of type %q, which cannot be carried by a task. %s", kind, upstream.Unknown.Sentence()),
		Data:    errorData{Reason: "unsupported_result", Outcome: upstream.Unknown},
	}
}

// errSenseless is for a result that asks, and cannot be answered.
func errSenseless(how string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: fmt.Sprintf("The upstream server answered with a question (input_required) that %s. %s", how, upstream.Unknown.Sentence()),
		Data:    errorData{Reason: "unsupported_result", Outcome: upstream.Unknown},
	}
}

// errOverResultBytes is for a result that is not kept.
func errOverResultBytes(size, most int) *wire.Error {
	return &wire.Error{
		Code: wire.CodeInternal,
		Message: fmt.Sprintf("The upstream server answered with %d bytes, and limits.result_bytes are %d. Ask for less, or have whoever runs the proxy raise the limit or set limits.large_results to spill. %s",
			size, most, upstream.Done.Sentence()),
		Data: errorData{Reason: "too_large", Outcome: upstream.Done, Limit: fmt.Sprintf("result_bytes: %d", most)},
	}
}

// errUnkept is for one that the disk, or the store, would not take.
func errUnkept(cause error, size int) *wire.Error {
	e := wireError(cause, upstream.Done)
	why := StoreText(cause)
	var full *taskstate.LimitError
	if errors.As(cause, &full) {
		why = fmt.Sprintf("it needs %d bytes; %d of %d (limits.%s) are in use", size, full.Used, full.Value, full.Limit)
	}
	e.Message = fmt.Sprintf("The upstream server answered with %d bytes, which the proxy could not keep: %s. %s", size, why, upstream.Done.Sentence())
	return e
}

// errUnreadable is for a resource of ours that is there, and cannot be had.
func errUnreadable(cause error) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: "The proxy cannot read the resource: " + StoreText(cause) + ". " + upstream.Done.Sentence(),
		Data:    errorData{Reason: "storage", Outcome: upstream.Done},
	}
}

func errOutcomeTooLarge(size int) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: fmt.Sprintf("The upstream server answered with %d bytes, more than can be stored for a task. Ask for less. %s", size, upstream.Done.Sentence()),
		Data:    errorData{Reason: "too_large", Outcome: upstream.Done},
	}
}

// A requestState that is refused. What it named may go on, without this request.
var (
	errStateForged = badState(upstream.NotDispatched,
		"The requestState was not made here for this request of this client: the tool, the arguments or the caller differ, or it was altered. Send it back as it came, or call anew without it.")
	errStateExpired = badState(upstream.Unknown,
		"The requestState has expired: the call that it belongs to was given up.")
	errStateGone = badState(upstream.Unknown,
		"The requestState cannot be used any more: it was used before, or the call that it belongs to has ended, as when the proxy is restarted.")
)

func badState(outcome upstream.Outcome, text string) *wire.Error {
	return &wire.Error{
		Code: wire.CodeInvalidParams, Message: text + " " + outcome.Sentence(),
		Data: errorData{Reason: "request_state", Outcome: outcome},
	}
}

func errTooManyQuestions() *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: "The upstream server asks more than can be passed on to the client. " + upstream.Unknown.Sentence(),
		Data:    errorData{Reason: "too_many_questions", Outcome: upstream.Unknown},
	}
}

// errTooManyHolds: the proxy is full, whatever the server asks.
func errTooManyHolds(limit string, outcome upstream.Outcome) *wire.Error {
	return &wire.Error{
		Code: wire.CodeInternal,
		Message: fmt.Sprintf("The call needs an answer of the client, and too many calls wait for theirs already (%s; half of them for one owner). It was withdrawn; try again later. %s",
			inConfiguration(limit), outcome.Sentence()),
		Data: errorData{Reason: "limit", Outcome: outcome, Limit: limit},
	}
}

// errNoAnswer: the server cannot go on without one.
func errNoAnswer(why string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: "The upstream server asked a question in this call, and cannot go on without the answer. " + why + " " + upstream.Unknown.Sentence(),
		Data:    errorData{Reason: "no_answer", Outcome: upstream.Unknown},
	}
}

// MissingTasks is the error for a client that did not declare the Tasks
// extension on a request that needs it (Tasks extension, Error Handling).
func MissingTasks(what string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeMissingClientCapability,
		Message: what + ", and the client did not declare the Tasks extension on this request.",
		Data:    missingTasks,
	}
}

var missingTasks = map[string]any{
	"requiredCapabilities": map[string]any{
		"extensions": map[string]any{"io.modelcontextprotocol/tasks": struct{}{}},
	},
}
