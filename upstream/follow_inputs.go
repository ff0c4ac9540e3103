package upstream

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// inputs are what the server asks in one task of the Tasks extension, by the keys
// that it gives them: each is handed on once (Task Update Requests).
type inputs struct {
	byKey   map[string]*input // those that are open or answered
	names   int               // bytes of the keys
	open    int
	total   int               // in the life of the task
	answers map[string][]byte // that are still to be sent
	sent    map[string][]byte // in the update that is open
	refused int               // times, one behind the other
}

type input struct {
	key      string
	method   string
	open     bool
	withdraw func() // nil if the taker does not care
}

// inputReply is an answer, or a no to the question.
type inputReply struct {
	input    *input
	response wire.Message
}

const (
	maxInputs     = 10000 // in the life of a task, whatever becomes of them
	maxInputNames = 1 << 20
	updateTries   = 5
)

func newInputs() inputs { return inputs{byKey: map[string]*input{}, answers: map[string][]byte{}} }

// present hands on what is new, and takes back what the server does not ask any
// more.
func (t *extensionTask) present(got reading) {
	asked := map[string]bool{}
	if got.status == "input_required" {
		wire.Each(wire.Get(got.task, "inputRequests"), func(key string, request []byte) {
			asked[key] = true
			if t.inputs.byKey[key] == nil && t.ctx.Err() == nil {
				t.put(key, request)
			}
		})
	}
	for key, in := range t.inputs.byKey {
		switch {
		case asked[key]:
		case in.open:
			t.takeBack(in)
		case t.inputs.answers[key] == nil && t.inputs.sent[key] == nil: // the server has the answer
			t.forget(in)
		}
	}
}

// takeBack: should the server ask for the same again, it is a new question.
func (t *extensionTask) takeBack(in *input) {
	in.open = false
	t.inputs.open--
	t.forget(in)
	if in.withdraw != nil {
		in.withdraw()
	}
}

// forget: servers use keys again, although they must not (Tasks extension, Task Update
// Requests).
func (t *extensionTask) forget(in *input) {
	delete(t.inputs.byKey, in.key)
	t.inputs.names -= len(in.key)
}

func (t *extensionTask) put(key string, request []byte) {
	n := &t.inputs
	if n.total++; n.total > maxInputs || n.names+len(key) > maxInputNames {
		t.giveUp(errAsksTooMuch())
		return
	}
	in := &input{key: key, open: true}
	in.method, _ = wire.String(wire.Get(request, "method"))
	n.byKey[key] = in
	n.names += len(key)
	n.open++
	t.hand(in, wire.Request(t.client.newID(), in.method, wire.Get(request, "params")))
}

func (c *Client) newID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nextID++
	return c.nextID
}

func (t *extensionTask) hand(in *input, m wire.Message) {
	answer := func(response wire.Message) { t.reply(in, response) }
	handle := t.client.opts.Handler.Request
	switch {
	case in.method == "" || t.inputs.open > maxQuestions:
		answer(wire.Failure(m.ID(), wire.Errorf(wire.CodeInternal, "This cannot be asked.")))
	case t.request.Ask != nil:
		in.withdraw = t.request.Ask(m, answer)
	case handle != nil:
		handle(m, answer)
	default:
		answer(wire.Failure(m.ID(), wire.Errorf(wire.CodeInternal, "Nobody can be asked.")))
	}
}

// reply may be called from any goroutine.
func (f *follow) reply(in *input, response wire.Message) {
	f.mu.Lock()
	f.replies = append(f.replies, inputReply{in, response})
	f.mu.Unlock()
	f.poke()
}

func (t *extensionTask) takeReplies() {
	t.mu.Lock()
	replies := t.replies
	t.replies = nil
	t.mu.Unlock()
	for _, r := range replies {
		if r.input.open {
			t.takeReply(r.input, r.response)
		}
	}
	if len(t.inputs.answers) > 0 && t.update.next.IsZero() {
		t.update.soon()
	}
}

// takeReply: there is no way to answer with an error. To an elicitation a decline
// says the same; without the others the task has no end.
func (t *extensionTask) takeReply(in *input, response wire.Message) {
	in.open = false
	t.inputs.open--
	switch {
	case response.Result() != nil:
		t.inputs.answers[in.key] = response.Result()
	case in.method == "elicitation/create":
		t.inputs.answers[in.key] = []byte(`{"action":"decline"}`)
	default:
		t.giveUp(errNoAnswer(in.method))
	}
}

func (t *extensionTask) sendAnswers() {
	t.update.never()
	n := &t.inputs
	if len(n.answers) == 0 {
		return
	}
	n.sent, n.answers = n.answers, map[string][]byte{}
	t.ask(&t.update, ownLimit, t.own("tasks/update", wire.Set(nil, "inputResponses", objectOf(n.sent))))
}

func objectOf(members map[string][]byte) []byte {
	var list [][]byte
	for _, key := range slices.Sorted(maps.Keys(members)) {
		list = append(list, slices.Concat(wire.Quote(key), []byte{':'}, members[key]))
	}
	return slices.Concat([]byte{'{'}, bytes.Join(list, []byte{','}), []byte{'}'})
}

// updated takes the answer to tasks/update. To answer twice does no harm: the
// server ignores what it does not ask any more.
func (t *extensionTask) updated(a answer) {
	n := &t.inputs
	t.update.over(a.err != nil)
	switch {
	case a.err != nil && a.err.Reason == "upstream_unauthorized":
		t.fail(a.err.lasting())
	case a.err != nil:
		t.updateAgain(t.update.failures)
	case a.message.Err() == nil, unknownTask(a.message): // tasks/get says which task it is
		n.sent, n.refused = nil, 0
		t.look()
		if len(n.answers) > 0 {
			t.update.soon()
		}
	case n.refused == updateTries || string(wire.Get(a.message.Err(), "code")) == "-32601":
		t.giveUp(errUpdateRefused(a.message))
	default:
		n.refused++
		t.updateAgain(n.refused)
	}
}

func (t *extensionTask) updateAgain(failures int) {
	maps.Copy(t.inputs.answers, t.inputs.sent)
	t.inputs.sent = nil
	t.update.in(backoff(failures))
}

func errAsksTooMuch() *Error {
	return (&Error{Reason: "upstream_invalid", Text: fmt.Sprintf("The upstream server asks for more than %d inputs, or under longer keys than are taken, "+
		"in one task. The call was given up, and the server told to cancel its task.", maxInputs)}).with(Unknown)
}

func errUpdateRefused(m wire.Message) *Error {
	text, _ := wire.String(wire.Get(m.Err(), "message"))
	return (&Error{Reason: "answer_undelivered", Text: fmt.Sprintf("The upstream server asked something during this call and does not take the answer (error %.20s, %.300q). "+
		"The call was given up, and the server told to cancel its task.", wire.Get(m.Err(), "code"), text)}).with(Unknown)
}
