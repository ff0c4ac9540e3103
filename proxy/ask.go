package proxy

import (
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// serverQuestion is a request of a server of the initialize era, which waits
// for our response.
type serverQuestion struct {
	method string
	answer func(wire.Message)
}

// ask takes a question of the server in this call, on the goroutine that reads
// from it. Of a host that stands by its requests only that is asked which it
// declared for this one (revision 2026-07-28, Elicitation, Capabilities, and
// alike for the others); the server is told what a client would tell it.
func (r *run) ask(m wire.Message, answer func(wire.Message)) (withdrawn func()) {
	request := question(m)
	if refusal := refuseQuestion(request, r.capabilities()); refusal != nil {
		answer(wire.Failure(noID, refusal))
		return nil
	}
	q := &serverQuestion{m.Method(), answer}
	if !r.queue(len(request)) {
		r.warnOfFlood()
		answer(tooManyQuestions())
		return nil
	}
	if !r.send(letter{do: func() { r.asked(request, q) }, lost: q.declined}) {
		q.declined()
		return nil
	}
	return func() { r.post(func() { r.takenBack(q) }) }
}

// question is a request without what only its own way knows.
func question(m wire.Message) []byte {
	var request []byte
	if params := m.Params(); params != nil {
		request = wire.Set(nil, "params", wire.DeleteIn(params, "_meta", "progressToken"))
	}
	return wire.Prepend(request, "method", wire.Quote(m.Method()))
}

func (r *run) capabilities() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.req.Caller.Capabilities
}

// queue bounds the questions that the run has not come to yet, and the bytes in them.
func (r *run) queue(size int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queued >= maxInputs || r.queuedBytes+size > maxInputBytes {
		return false
	}
	r.queued++
	r.queuedBytes += size
	return true
}

func (r *run) unqueue(size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queued--
	r.queuedBytes -= size
}

func (r *run) asked(request []byte, q *serverQuestion) {
	r.unqueue(len(request))
	if !r.inputs.takes(request) || r.hold != nil && !r.proxy.growHold(r.hold, len(request)) {
		r.warnOfFlood()
		q.answer(tooManyQuestions())
		return
	}
	r.inputs.add("", request, q)
	r.unpresented = true
}

// warnOfFlood says it once: a server that asks too much does so many times over.
func (r *run) warnOfFlood() {
	r.mu.Lock()
	log, again := r.log(), r.flooded
	r.flooded = true
	r.mu.Unlock()
	if !again {
		log.Warn().Msg("a server asks more in one call than can be passed on")
	}
}

// tooManyQuestions is what the server gets for one too many.
func tooManyQuestions() wire.Message {
	return wire.Failure(noID, wire.Errorf(wire.CodeInternal, "The client could not be asked: too many questions of this call are open, or they are too long."))
}

// takenBack is for a question that the server does not ask any more.
func (r *run) takenBack(q *serverQuestion) {
	for _, in := range r.inputs.open {
		if in.asker == q {
			r.close([]*input{in})
			return
		}
	}
}

func (q *serverQuestion) answered(r *run, result []byte) {
	r.heard = true
	q.answer(wire.Result(noID, result))
}

func (q *serverQuestion) unanswered(*run, string) { q.declined() }

// declined answers as a client would whose user has declined (revision
// 2025-11-25, Elicitation, Response Actions; Sampling, Error Handling; Roots,
// Error Handling).
func (q *serverQuestion) declined() {
	const why = "The client gave no answer."
	switch q.method {
	case "elicitation/create":
		q.answer(wire.Result(noID, declinedForm))
	case "sampling/createMessage":
		q.answer(wire.Failure(noID, wire.Errorf(codeUserRejected, why)))
	default:
		q.answer(wire.Failure(noID, wire.Errorf(wire.CodeInternal, why)))
	}
}

var declinedForm = []byte(`{"action":"decline"}`)

// codeUserRejected is what the specification's example gives for it.
const codeUserRejected = -1
