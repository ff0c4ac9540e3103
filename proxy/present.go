package proxy

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// presentNew shows questions that came in one go together.
func (r *run) presentNew() {
	if r.unpresented && r.isPending() && len(r.inputs.open) > 0 {
		r.present()
	}
	r.unpresented = false
}

// present shows the open questions to the host, by the way that is open to it.
// One that is away finds them when it comes back.
func (r *run) present() {
	switch {
	case r.taskID != "":
		if r.publish(r.inputs.open) != nil {
			r.unshown()
			return
		}
	case !r.open:
		return
	case r.req.Ask != nil:
		r.askDirectly()
	case r.req.AtOnce:
		if !r.storeFirst() {
			return
		}
	case !r.takesTask() || r.policy.Input == BeforeTask || r.store(r.sent) != nil:
		r.await()
		return
	}
	r.setTimers()
}

// unshown ends what could not be put on the task.
func (r *run) unshown() {
	for _, in := range r.inputs.open {
		if !in.shown && r.isPending() {
			r.inputs.open = r.inputs.without(in)
			in.asker.unanswered(r, "The client could not be asked.")
		}
	}
	r.goOn()
}

// setTimers has questions that the host has seen end in time.
func (r *run) setTimers() {
	for _, in := range r.inputs.open {
		if in.timer == nil {
			in.deadline = time.Now().Add(r.policy.inputTimeout())
			in.timer = r.later(r.policy.inputTimeout(), r.timedOut)
		}
	}
}

// timedOut ends all questions whose time is over: many may have come in one go.
func (r *run) timedOut() {
	over := r.inputs.dueAt(time.Now())
	if !r.close(over) {
		return
	}
	for _, in := range over {
		r.remark = fmt.Sprintf("The question %s was not answered within %s (input_timeout), and counts as declined.", in.key, duration(r.policy.inputTimeout()))
		r.log().Warn().Str("question", in.key).Dur("input_timeout", r.policy.inputTimeout()).Msg("nobody has answered a question")
		if r.isPending() {
			in.asker.unanswered(r, fmt.Sprintf("The client gave no answer within %s (input_timeout).", duration(r.policy.inputTimeout())))
		}
	}
	r.goOn()
}

// close takes open questions away from the host. It is false where there is none,
// or no task any more.
func (r *run) close(some []*input) bool {
	if len(some) == 0 {
		return false
	}
	rest := r.inputs.without(some...)
	if r.taskID != "" && r.publish(rest) != nil && !r.isPending() {
		return false // everything was declined
	}
	r.inputs.open = rest // even if the disk does not know yet
	for _, in := range some {
		in.end()
	}
	return true
}

// give hands answers to whoever waits for them.
func (r *run) give(answers []matched) {
	for _, m := range answers {
		m.input.end()
		m.input.asker.answered(r, m.result)
	}
	r.goOn()
}

// goOn repeats the call once its last question is answered.
func (r *run) goOn() {
	if r.isPending() && r.ctx.Err() == nil && r.round != nil && len(r.inputs.open) == 0 {
		r.repeat()
	}
}

// askDirectly asks a host of the initialize era what it has not been asked yet.
func (r *run) askDirectly() {
	for _, in := range r.inputs.open {
		if in.withdraw == nil {
			method, _ := wire.String(wire.Get(in.request, "method"))
			m := wire.Request(0, method, wire.Get(in.request, "params")).With(wire.Changes{ID: QuestionID})
			in.withdraw = r.req.Ask(m, func(response wire.Message) { r.post(func() { r.answeredDirectly(in, response) }) })
		}
	}
}

// askByTask takes back what the host was asked directly: it is the task's to ask
// now.
func (r *run) askByTask() {
	for _, in := range r.inputs.open {
		if in.withdraw != nil {
			in.withdraw()
			in.withdraw = nil
		}
	}
}

// QuestionID is the id of the questions that the proxy itself asks through
// [Request].Ask. It is none of the server's.
var QuestionID = []byte(`"mcp-taskproxy"`)

func (r *run) answeredDirectly(in *input, response wire.Message) {
	if !r.inputs.isOpen(in) {
		return
	}
	in.withdraw = nil
	if !r.close([]*input{in}) {
		return
	}
	if result := response.Result(); wire.IsObject(result) {
		in.asker.answered(r, result)
	} else {
		text, _ := wire.String(wire.Get(response.Err(), "message"))
		in.asker.unanswered(r, fmt.Sprintf("The client answered with an error: %.300s.", strings.TrimSuffix(text, ".")))
	}
	r.goOn()
}
