package upstream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Outcome says what is known of a request that got no answer.
type Outcome string

// Outcomes. What was not dispatched never reached the server, or was refused at
// its door, and can be sent again without harm; of the rest nobody knows whether it took effect.
const (
	NotDispatched Outcome = "not_dispatched"
	Unknown       Outcome = "unknown"
	// Done: the server has answered, but the answer cannot be had.
	Done Outcome = "done"
)

// Error says why a request got no answer from the server: which side failed,
// what became of the work, and what the reader can do.
type Error struct {
	// Reason is for programs: upstream_start, upstream_exited, upstream_busy,
	// upstream_invalid, too_large, shutdown; over HTTP also
	// upstream_unreachable, upstream_http, upstream_unauthorized,
	// upstream_redirected, upstream_session_lost, upstream_stream_cut; where the
	// server could not be given the answer to a question, answer_undelivered; of
	// a call that the server has made a task of, upstream_task_lost,
	// upstream_cancelled, and no_answer where it cannot be told that it gets none.
	Reason  string
	Outcome Outcome
	// Text is a sentence for people and models.
	Text string
	// ExitStatus and Stderr are how the server's process ended and its last
	// lines, where it did.
	ExitStatus string
	Stderr     []string
	// Status is the HTTP status that the server answered with, and Body a
	// piece of what came with it, where that was no message.
	Status int
	Body   string
}

func (e *Error) Error() string { return e.Text }

// Wire is the JSON-RPC error for the host: -32603 with the details as data.
func (e *Error) Wire() *wire.Error {
	return &wire.Error{Code: wire.CodeInternal, Message: e.Text, Data: struct {
		Reason     string   `json:"reason"`
		Outcome    Outcome  `json:"outcome"`
		ExitStatus string   `json:"exitStatus,omitempty"`
		Stderr     []string `json:"stderr,omitempty"`
		Status     int      `json:"httpStatus,omitempty"`
		Body       string   `json:"body,omitempty"`
	}{e.Reason, e.Outcome, e.ExitStatus, e.Stderr, e.Status, e.Body}}
}

// with is the same error with another outcome.
func (e *Error) with(o Outcome) *Error {
	other := *e
	other.Outcome = o
	other.Text += " " + o.Sentence()
	return &other
}

// plainText is the text without the word on the outcome.
func (e *Error) plainText() string { return strings.TrimSuffix(e.Text, " "+e.Outcome.Sentence()) }

// Sentence tells a reader what the outcome means for a repetition.
func (o Outcome) Sentence() string {
	switch o {
	case NotDispatched:
		return "The upstream server has not begun any work on the request: it can be repeated."
	case Done:
		return "The work itself is done: do not repeat it."
	}
	return "Whether the request took effect is unknown: check before repeating it."
}

func errStart(err error) *Error {
	return (&Error{Reason: "upstream_start", Text: fmt.Sprintf("The upstream server could not be started: %v.", err)}).with(NotDispatched)
}

func errExited(report exitReport) *Error {
	e := &Error{Reason: "upstream_exited", ExitStatus: report.Status, Stderr: report.Stderr}
	e.Text = fmt.Sprintf("The upstream server ended (%s).%s", report.Status, quoteLast(report.Stderr))
	return e
}

func errTooLarge(err error) *Error {
	return (&Error{Reason: "too_large", Text: fmt.Sprintf(
		"The upstream server's answer was dropped: %v. Raise limits.message_bytes or ask for less.", err)}).with(Done)
}

// errNotTaken: the request could not be queued for the server.
func errNotTaken(err error) *Error {
	if errors.Is(err, wire.ErrFull) {
		return (&Error{Reason: "upstream_busy", Text: "The upstream server does not read its input."}).with(NotDispatched)
	}
	return errGone()
}

// errMalformed: the server answered, but not in JSON-RPC.
func errMalformed(why error) *Error {
	return (&Error{Reason: "upstream_invalid", Text: fmt.Sprintf("The upstream server's answer cannot be used: %v.", why)}).with(Unknown)
}

// errGone: the server has ended, and this request came after that.
func errGone() *Error {
	return (&Error{Reason: "upstream_exited", Text: "The upstream server has just ended."}).with(NotDispatched)
}

// errWaiting: the server takes long to start, and too much waits for it.
func errWaiting() *Error {
	return (&Error{Reason: "upstream_start", Text: "The upstream server is still starting, and too many requests wait for it."}).with(NotDispatched)
}

// errUndelivered: the server has asked something in a request and was not given
// the answer. Without it the request has no end.
func errUndelivered(q *question, why error) *Error {
	e, cause := &Error{Reason: "answer_undelivered"}, ""
	var said *Error
	switch {
	case errors.As(why, &said):
		cause = said.plainText()
		e.Status, e.Body = said.Status, said.Body
		if said.Reason == "upstream_session_lost" {
			e.Reason = said.Reason
		}
	case errors.Is(why, errMoved):
		e.Reason, cause = "upstream_session_lost", "It does not know the session any more, and a new one is opened for the next request."
	default: // wire.ErrFull
		cause = "It takes none of the answers, and too many wait for it."
	}
	e.Text = fmt.Sprintf("The upstream server asked %.100s during this request and could not be given the answer. %s "+
		"The request was given up, and the server told to stop.", q.method, cause)
	return e.with(Unknown)
}

func errClosed() *Error {
	return &Error{Reason: "shutdown", Text: "The proxy is shutting down."}
}

func errHandshake(format string, args ...any) *Error {
	return (&Error{Reason: "upstream_start", Text: fmt.Sprintf(format, args...)}).with(NotDispatched)
}

// errHandshakeLost: the server ended during its greeting.
func errHandshakeLost(e *Error) *Error {
	other := *e
	other.Reason, other.Outcome = "upstream_start", NotDispatched
	other.Text = "The upstream server ended while it was being greeted (" + e.ExitStatus + ")." + quoteLast(e.Stderr) +
		" Its standard error, in the proxy's log, says why. " + NotDispatched.Sentence()
	return &other
}

func quoteLast(stderr []string) string {
	if len(stderr) == 0 {
		return ""
	}
	return fmt.Sprintf(" Its last words: %s.", strings.TrimRight(stderr[len(stderr)-1], ". "))
}
