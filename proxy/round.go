package proxy

import (
	"fmt"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Members of a request that continues an earlier one (revision 2026-07-28,
// Multi Round-Trip Requests).
const (
	keyResponses = "inputResponses"
	keyState     = "requestState"
)

// round is one result that asks: a server of the stateless era has answered the
// call with questions, and goes on with it when it is repeated with the answers
// (revision 2026-07-28, Multi Round-Trip Requests). That is no second call: it
// is how the protocol continues one.
type round struct {
	state     []byte // the server's requestState, as it is; nil for none
	responses []byte // what has been answered, by the server's keys
}

// roundInput is one of its questions.
type roundInput struct {
	round  *round
	key    string // the server's
	method string
}

// maxRounds of questions may be in one call.
const maxRounds = 100

// isInterim reports whether a result asks instead of answering. In the
// initialize era no result does.
func (r *run) isInterim(a answer) bool {
	if a.err != nil || string(wire.Get(a.message.Result(), "resultType")) != `"input_required"` {
		return false
	}
	desc, _ := r.client.Describe()
	return desc.Era == upstream.Stateless
}

// inputRequired takes such a result. A host of the same era whose call it still
// is gets it as it stands, unless there is a better way.
func (r *run) inputRequired(a answer) {
	requests, state := wire.Get(a.message.Result(), "inputRequests"), wire.Get(a.message.Result(), keyState)
	if err := r.unaskable(requests); err != nil {
		r.conclude(failure(err))
		return
	}
	if r.passes() {
		r.conclude(a)
		return
	}
	if !hasContent(requests, state) {
		r.conclude(failure(errSenseless("names neither a question nor a state to go on from")))
		return
	}
	r.round = &round{state: state}
	if isEmpty(requests) { // it only wants to be called again
		r.later(r.again(), r.goOn)
		return
	}
	r.rounds++
	r.pause = 0
	wire.Each(requests, func(key string, request []byte) {
		method, _ := wire.String(wire.Get(request, "method"))
		r.inputs.add(fmt.Sprintf("%d.%s", r.rounds, key), request, &roundInput{r.round, key, method})
	})
	r.present()
}

// hasContent: a result that asks has a map of questions, a state, or both
// (revision 2026-07-28, Multi Round-Trip Requests, Server Requirements).
func hasContent(requests, state []byte) bool {
	_, isString := wire.String(state)
	return (requests == nil || wire.IsObject(requests)) && (state == nil || isString) && (!isEmpty(requests) || isString)
}

func isEmpty(object []byte) bool {
	empty := true
	wire.Each(object, func(string, []byte) { empty = false })
	return empty
}

// again is how long a server is left alone that asks nothing but to be called
// again: longer each time.
func (r *run) again() time.Duration {
	r.pause = min(max(2*r.pause, againFirst), againLast)
	return r.pause
}

const (
	againFirst = time.Second
	againLast  = 30 * time.Second
)

// passes says that the host itself sees to the questions.
func (r *run) passes() bool {
	return r.open && r.req.retries() && !r.policy.gated() && (!r.takesTask() || r.policy.Input == BeforeTask)
}

// unaskable is the error for a result that asks what this client cannot be
// asked.
func (r *run) unaskable(requests []byte) (err *wire.Error) {
	asked := 0
	wire.Each(requests, func(_ string, request []byte) {
		asked++
		switch path := needed(request); {
		case err != nil:
		case path == nil:
			err = errSenseless("asks for what no client knows")
		case !declares(r.capabilities(), path):
			err = missingCapability(path, "The upstream server asked a question in this call", upstream.Unknown)
		}
	})
	if err == nil && (asked > maxInputs || len(requests) > maxInputBytes || asked > 0 && r.rounds >= maxRounds) {
		err = errTooManyQuestions()
	}
	if err != nil && !r.req.retries() { // its era has no codes of its own for this
		err.Code = wire.CodeInternal
	}
	return err
}

func (q *roundInput) answered(r *run, result []byte) {
	r.heard = true
	q.round.responses = wire.Set(q.round.responses, q.key, result)
}

// unanswered: a form can be declined; there is no way to say so of the others.
func (q *roundInput) unanswered(r *run, why string) {
	if q.method == "elicitation/create" {
		q.answered(r, declinedForm)
		return
	}
	r.conclude(failure(errNoAnswer(why)))
}

func (q *roundInput) declined() {}

// repeat sends the call with the answers, and with the server's state byte for
// byte.
func (r *run) repeat() {
	params := wire.Delete(r.message.Params(), keyResponses, keyState)
	if r.round.state != nil {
		params = wire.Prepend(params, keyState, r.round.state)
	}
	if r.round.responses != nil {
		params = wire.Prepend(params, keyResponses, r.round.responses)
	}
	r.round = nil
	r.address(r.message.With(wire.Changes{Params: params}))
	r.dispatch()
}
