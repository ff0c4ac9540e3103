package upstream

import (
	"bytes"
	"strconv"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// question is a request of the server that was handed to one of ours.
type question struct {
	id       []byte // the server's, and not the message that it came with
	method   string
	request  *Request
	handed   chan struct{} // closed when withdraw is set
	withdraw func()        // nil if the taker does not care
	settled  bool          // answered or withdrawn; under Client.mu
}

// maxQuestions may be open at a time on one run of a session.
const maxQuestions = 1000

// request: servers of the stateless era send none (revision 2026-07-28,
// stdio). One that came on the stream of a request of ours belongs to that
// (revision 2025-11-25, Transports, Sending Messages to the Server); all else
// is for the Handler, which passes it on whole, or has to be attributed.
func (k *conn) request(origin *Request, m wire.Message) {
	handle := k.client.opts.Handler.Request
	switch {
	case m.Method() == "ping" && (handle == nil || k.era() == Stateless):
		k.reply(m.ID(), m.Method(), wire.Result(m.ID(), []byte("{}")))
	case k.era() == Stateless:
		k.refuse(m, wire.CodeMethodNotFound, "The client cannot be asked %.100s.")
	case origin != nil && origin.Ask != nil:
		k.ask(origin, m)
	case handle != nil:
		handle(m, func(response wire.Message) { k.reply(m.ID(), m.Method(), response) })
	case origin != nil:
		k.refuse(m, wire.CodeInternal, "The client cannot be asked %.100s: it came on the stream of a request during which nothing can be asked.")
	default:
		k.attribute(m)
	}
}

func (k *conn) reply(id []byte, method string, response wire.Message) {
	if err := k.respond(response.With(wire.Changes{ID: id})); err != nil {
		k.log.Warn().Err(err).Str("method", method).Msg("the upstream server did not take the answer to its request")
	}
}

func (k *conn) refuse(m wire.Message, code int, format string) {
	k.reply(m.ID(), m.Method(), wire.Failure(m.ID(), wire.Errorf(code, format, m.Method())))
}

// attribute finds the request that the server asks for, as far as it says so.
func (k *conn) attribute(m wire.Message) {
	r, guessed := k.asker(m)
	if r == nil {
		k.refuse(m, wire.CodeInternal,
			"The client cannot be asked %.100s now: no call, prompt or read of this session is open on whose behalf that could be. Ask while one runs.")
		return
	}
	if guessed {
		k.log.Warn().Str("method", m.Method()).Msg(
			"the upstream server does not say for which of its open requests it asks; the latest one is taken")
	}
	k.ask(r, m)
}

// asker returns the request whose progress token the message bears, or else the
// latest one that takes questions, nil if there is none. Guessed says that there
// are others. What the server has not seen yet is not what it asks for.
func (k *conn) asker(m wire.Message) (latest *Request, guessed bool) {
	token, err := strconv.ParseInt(string(wire.Lookup(m.Params(), "_meta", "progressToken")), 10, 64)
	k.order.Lock() // for Request.written
	defer k.order.Unlock()
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	for _, r := range k.open {
		switch {
		case r.Ask == nil || !r.written:
			continue
		case err == nil && r.id == token:
			return r, false
		case latest == nil:
			latest = r
			continue
		case r.id > latest.id:
			latest = r
		}
		guessed = true
	}
	return latest, guessed
}

// ask hands a question to r, and its answer, once and unless the server has
// withdrawn it, to the server.
func (k *conn) ask(r *Request, m wire.Message) {
	q := &question{id: bytes.Clone(m.ID()), method: m.Method(), request: r, handed: make(chan struct{})}
	if !k.admit(q) {
		k.refuse(m, wire.CodeInternal, "The client cannot be asked %.100s: too many questions are open. Wait for answers to them.")
		return
	}
	q.withdraw = r.Ask(m, func(response wire.Message) {
		if k.settle(q) {
			k.reply(q.id, q.method, response)
		}
	})
	close(q.handed)
}

// admit notes a question for as long as its request is open: behind that it can
// be answered, and not withdrawn any more.
func (k *conn) admit(q *question) bool {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	if len(k.questions) >= maxQuestions {
		return false
	}
	if k.open[q.request.id] == q.request {
		k.questions[q], q.request.asked = true, true
	}
	return true
}

// settle reports whether the question was open until now.
func (k *conn) settle(q *question) bool {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	return k.settleLocked(q)
}

func (k *conn) settleLocked(q *question) bool {
	open := !q.settled
	q.settled = true
	delete(k.questions, q)
	return open
}

// dropQuestionsLocked is for the end of r.
func (k *conn) dropQuestionsLocked(r *Request) {
	if !r.asked {
		return
	}
	for q := range k.questions {
		if q.request == r {
			delete(k.questions, q)
		}
	}
}

// withdrawn takes the server's word that it does not wait for an answer any
// more (revision 2025-11-25, Cancellation), and reports whether whoever was
// asked has taken it. Over HTTP it can come before they have the question.
func (k *conn) withdrawn(m wire.Message) (taken bool) {
	for _, q := range k.takeQuestions(wire.Get(m.Params(), "requestId")) {
		<-q.handed
		if q.withdraw != nil {
			q.withdraw()
			taken = true
		}
	}
	return taken
}

func (k *conn) takeQuestions(id []byte) (all []*question) {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	for q := range k.questions {
		if bytes.Equal(q.id, id) && k.settleLocked(q) {
			all = append(all, q)
		}
	}
	return all
}
