package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// taskRef is where a server keeps a task. It is stored by others (TaskWish.Made),
// and read by later versions of this program.
type taskRef struct {
	Version    int        `json:"v"`
	Generation generation `json:"generation"`
	Task       []byte     `json:"task"` // the id as the server wrote it: a JSON string
	PaceMs     int64      `json:"paceMs"`
}

const (
	refVersion = 1
	maxTaskID  = 1 << 10 // bytes, as the server wrote it
)

func (ref taskRef) id() string {
	id, _ := wire.String(ref.Task)
	return id
}

func (ref taskRef) pace() time.Duration { return paceOf(ref.PaceMs) }

func (ref taskRef) encode() []byte {
	text, err := json.Marshal(ref)
	if err != nil {
		panic(err) // numbers and bytes always have an encoding
	}
	return text
}

func decodeRef(text []byte) (ref taskRef, err error) {
	if err := json.Unmarshal(text, &ref); err != nil {
		return ref, err
	}
	known := ref.Generation == olderTasks || ref.Generation == extensionTasks
	if id, ok := wire.String(ref.Task); ref.Version != refVersion || !known || !ok || id == "" || !wire.Valid(ref.Task) {
		return ref, errors.New("it is of a kind that is not known here")
	}
	return ref, nil
}

// newRef reads the task that a server has made. Nothing but its id must be there.
func newRef(g generation, task []byte) (taskRef, error) {
	ref := taskRef{Version: refVersion, Generation: g, Task: wire.Get(task, "taskId"), PaceMs: usualPoll.Milliseconds()}
	if id, ok := wire.String(ref.Task); !ok || id == "" || len(ref.Task) > maxTaskID+2 {
		return ref, errors.New("it is a task without a usable id")
	}
	ref.Task = append([]byte(nil), ref.Task...)
	if ms, ok := intervalOf(g, task); ok {
		ref.PaceMs = ms
	}
	return ref, nil
}

// intervalOf is the server's wish for the time between polls.
func intervalOf(g generation, task []byte) (ms int64, ok bool) {
	name := "pollInterval"
	if g == extensionTasks {
		name = "pollIntervalMs"
	}
	var n float64
	if json.Unmarshal(wire.Get(task, name), &n) != nil || !(n > 0) {
		return 0, false
	}
	return int64(min(n, float64(longestPoll.Milliseconds()))), true
}

func paceOf(ms int64) time.Duration {
	return min(max(time.Duration(min(ms, longestPoll.Milliseconds()))*time.Millisecond, leastPoll), longestPoll)
}

// reading is what an answer to tasks/get says.
type reading struct {
	task   []byte // nil for none
	status string
	final  *Error       // no other answer is to be had
	gone   wire.Message // the error that says that the server does not know the task
	none   bool         // it does not know the request
}

// read also takes what every task object says. A reading with nothing in it is for
// a server that cannot be asked at the moment.
func (f *follow) read(a answer) (got reading) {
	code := string(wire.Get(a.message.Err(), "code"))
	switch {
	case a.err != nil:
		got.final = a.err.lasting()
	case code == "-32601":
		got.none = true
	case unknownTask(a.message):
		got.gone = a.message
	case wire.IsObject(a.message.Result()):
		return f.readTask(a.message.Result())
	}
	return got
}

// readTask passes over what is about another task.
func (f *follow) readTask(task []byte) (got reading) {
	if id, ok := wire.String(wire.Get(task, "taskId")); ok && id != f.ref.id() {
		return got
	}
	status, ok := wire.String(wire.Get(task, "status"))
	if !ok {
		return got
	}
	if ms, ok := intervalOf(f.ref.Generation, task); ok {
		f.pace = paceOf(ms)
	}
	f.tell(statusMessage(task))
	return reading{task: task, status: status}
}

// tell says what the server says of its task, once.
func (f *follow) tell(message string) {
	if message == f.said {
		message = ""
	} else {
		f.said = message
	}
	f.request.Task.status(message)
}

// statusMessage is that of a task object, cut.
func statusMessage(task []byte) string {
	message, _ := wire.String(wire.Get(task, "statusMessage"))
	if len(message) <= maxTaskStatus {
		return message
	}
	const mark = "…"
	return string(wholeRunes([]byte(message[:maxTaskStatus-len(mark)]))) + mark
}

// lasting is the error that ends a task's life here: another try would fare no
// better. Nil for others.
func (e *Error) lasting() *Error {
	switch e.Reason {
	case "upstream_unauthorized":
		other := *e
		other.Text = e.plainText()
		return other.with(Unknown)
	case "too_large":
		return e
	}
	return nil
}

// unknownTask: -32602 has no other meaning in an answer to tasks/get, whose params
// are sound (revision 2025-11-25, Tasks, Protocol Errors; Tasks extension, Protocol
// Errors). Servers in the field have other codes too, and say so in words.
func unknownTask(m wire.Message) bool {
	switch string(wire.Get(m.Err(), "code")) {
	case "-32602":
		return true
	case "-32601", "":
		return false
	}
	text, _ := wire.String(wire.Get(m.Err(), "message"))
	return aboutTheTask().MatchString(text)
}

// aboutTheTask is compiled by its first use: few starts need it.
var aboutTheTask = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\btask\b.{0,200}\b(?:not found|unknown|expired|does not exist)\b|\b(?:no such|unknown|invalid|expired) task\b`)
})

// isFinal reports whether the status never changes.
func isFinal(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// errTaskLost: the server has made a task of the request and does not know it any
// more.
func errTaskLost(why string) *Error {
	return (&Error{Reason: "upstream_task_lost", Text: "The upstream server had made a task of this call, whose result cannot be had: " + why + "."}).with(Unknown)
}

func errTaskUnknown(m wire.Message) *Error {
	text, _ := wire.String(wire.Get(m.Err(), "message"))
	return errTaskLost(fmt.Sprintf("it does not know the task any more (error %.20s, %.300q)", wire.Get(m.Err(), "code"), text))
}

// errResultRefused: it is not the call that has failed.
func errResultRefused(m wire.Message) *Error {
	e := errTaskUnknown(m)
	text, _ := wire.String(wire.Get(m.Err(), "message"))
	e.Text = fmt.Sprintf("The upstream server says that the task which it had made of this call is completed, and does not give the result (error %.20s, %.300q).", wire.Get(m.Err(), "code"), text)
	return e.with(Done)
}

func errTaskCancelled(message string) *Error {
	e := &Error{Reason: "upstream_cancelled", Text: "The upstream server has cancelled the task that it had made of this call, without being asked to here."}
	if message != "" {
		e.Text = fmt.Sprintf("The upstream server has cancelled the task that it had made of this call, without being asked to here. It says: %q.", message)
	}
	return e.with(Unknown)
}

func errNoAnswer(method string) *Error {
	return (&Error{Reason: "no_answer", Text: fmt.Sprintf("The upstream server asked %.100s during this call and there is no answer to it. "+
		"The call was given up, and the server told to cancel its task.", method)}).with(Unknown)
}
