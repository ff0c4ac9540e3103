package proxy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// input is one question that waits for its answer.
type input struct {
	key      string
	request  []byte // an object of method and params
	shown    bool   // by the task
	asker    asker
	timer    *time.Timer // nil until the host has been shown it
	deadline time.Time   // set with it
	withdraw func()      // from a host that was asked directly; nil for others
}

// asker is who waits for the answer. Its functions run on the run's goroutine,
// when the input is open no more.
type asker interface {
	// answered takes what the host gave: an object.
	answered(r *run, result []byte)
	// unanswered is for a host that does not answer, or not with a result; why
	// is a sentence.
	unanswered(r *run, why string)
	// declined is for the end of the call.
	declined()
}

// inputs are the open questions of a run, in their order. No key stands for two
// questions (Tasks extension, Task Update Requests).
type inputs struct {
	last int
	mark string // in keys, where a former process may have given others
	open []*input
}

// maxInputs may be open at a time, and maxInputBytes be in them.
const (
	maxInputs     = 100
	maxInputBytes = taskstate.MaxPayload / 2
)

// takes reports whether there is room for one more.
func (i *inputs) takes(request []byte) bool {
	return len(i.open) < maxInputs && i.size()+len(request) <= maxInputBytes
}

func (i *inputs) size() (n int) {
	for _, in := range i.open {
		n += len(in.request)
	}
	return n
}

// add opens a question. An empty key makes one of its method.
func (i *inputs) add(key string, request []byte, asker asker) {
	if key == "" {
		i.last++
		method, _ := wire.String(wire.Get(request, "method"))
		kind, _, _ := strings.Cut(method, "/")
		key = kind + "-" + i.mark + strconv.Itoa(i.last)
	}
	i.open = append(i.open, &input{key: key, request: request, asker: asker})
}

// areShown: the task has them.
func (i *inputs) areShown() {
	for _, in := range i.open {
		in.shown = true
	}
}

// without is what is open but for some.
func (i *inputs) without(some ...*input) (rest []*input) {
	for _, in := range i.open {
		if !slices.Contains(some, in) {
			rest = append(rest, in)
		}
	}
	return rest
}

// dueAt are those whose time is over then.
func (i *inputs) dueAt(now time.Time) (due []*input) {
	for _, in := range i.open {
		if in.timer != nil && !now.Before(in.deadline) {
			due = append(due, in)
		}
	}
	return due
}

func (i *inputs) isOpen(in *input) bool { return slices.Contains(i.open, in) }

// end is for a question that is open no more: a host that was asked directly is
// told, unless it has answered.
func (in *input) end() {
	if in.timer != nil {
		in.timer.Stop()
	}
	if in.withdraw != nil {
		in.withdraw()
	}
}

// inputRequests is the object of that name; nil for no questions.
func inputRequests(open []*input) []byte {
	if len(open) == 0 {
		return nil
	}
	var text []byte
	for _, in := range open {
		text = append(append(append(text, ','), wire.Quote(in.key)...), ':')
		text = append(text, in.request...)
	}
	text[0] = '{'
	return append(text, '}')
}

// matched are the open questions that responses answers, with the answers.
type matched struct {
	input  *input
	result []byte
}

func inputsOf(all []matched) (inputs []*input) {
	for _, m := range all {
		inputs = append(inputs, m.input)
	}
	return inputs
}

// match ignores keys of what is not open, and answers that are no objects.
func (i *inputs) match(responses []byte) (all []matched) {
	for _, in := range i.open {
		if result := wire.Get(responses, in.key); wire.IsObject(result) {
			all = append(all, matched{in, result})
		}
	}
	return all
}

// decline tells whoever waits that there will be no answer.
func (i *inputs) decline() {
	open := i.open
	i.open = nil
	for _, in := range open {
		in.end()
		in.asker.declined()
	}
}
