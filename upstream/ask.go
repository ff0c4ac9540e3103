package upstream

import (
	"bytes"
	"strconv"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// question is a request of the server.
type question struct {
	id       []byte // the server's, and not the message that it came with
	method   string
	request  *Request      // of ours, to which it belongs; nil for none
	guessed  wire.Message  // the question, if it may belong to another request
	size     int           // of guessed
	handed   chan struct{} // closed when withdraw is set
	withdraw func()        // nil if the taker does not care
	settled  bool          // answered or withdrawn; under Client.mu
}

// maxQuestions may be open at a time on one run of a session.
const maxQuestions = 1000

// maxGuessedBytes of them are kept for the case that somebody else is meant. Others
// stay with the request that they were given to.
const maxGuessedBytes = 16 << 20

// request: servers of the stateless era send none (revision 2026-07-28,
// stdio). One that came on the stream of a request of ours belongs to that
// (revision 2025-11-25, Transports, Sending Messages to the Server); all else
// is for the Handler, which passes it on whole, or has to be attributed.
func (k *conn) request(origin *Request, m wire.Message) {
	k.link.awaitRoom()
	origin, m = k.concerned(origin.principal(), m)
	q, handle := questionOf(m, origin), k.client.opts.Handler.Request
	switch {
	case m.Method() == "ping" && (handle == nil || k.era() == Stateless):
		k.reply(q, wire.Result(q.id, []byte("{}")))
	case k.era() == Stateless:
		k.refuse(q, wire.CodeMethodNotFound, "The client cannot be asked %.100s.")
	case origin != nil && origin.Ask != nil:
		k.ask(origin, m, false)
	case handle != nil && k.inward(m):
		k.attribute(m)
	case handle != nil:
		handle(m, func(response wire.Message) { k.reply(q, response) })
	case origin != nil:
		k.refuse(q, wire.CodeInternal, "The client cannot be asked %.100s: it came on the stream of a request during which nothing can be asked.")
	default:
		k.attribute(m)
	}
}

func questionOf(m wire.Message, r *Request) *question {
	return &question{id: bytes.Clone(m.ID()), method: m.Method(), request: r, handed: make(chan struct{})}
}

// attribute finds the request that the server asks for, as far as it says so.
func (k *conn) attribute(m wire.Message) {
	r, guessed := k.asker(m)
	if r == nil {
		k.refuse(questionOf(m, nil), wire.CodeInternal,
			"The client cannot be asked %.100s now: no call, prompt or read of this session is open on whose behalf that could be. Ask while one runs.")
		return
	}
	if guessed && k.isFirstGuess(r) {
		name, _ := wire.String(wire.Get(r.Message.Params(), "name"))
		k.log.Warn().Str("method", m.Label()).Str("for", r.Message.Method()+" "+name[:min(len(name), 100)]).Msg(
			"the upstream server does not say for which of its open requests it asks; the latest one is taken")
	}
	k.ask(r, m, guessed)
}

// isFirstGuess keeps the log short: a server that does not say it does so every time.
func (k *conn) isFirstGuess(r *Request) bool {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	first := !r.guessed
	r.guessed = true
	return first
}

// asker returns the request whose progress token the message bears, or else the
// latest one whose caller can be asked this, or at all; nil if there is none.
// Guessed says that there are others. What the server has not seen yet is not
// what it asks for.
func (k *conn) asker(m wire.Message) (latest *Request, guessed bool) {
	takes := k.client.opts.Handler.Takes
	if takes == nil {
		takes = func(Caller, wire.Message) bool { return true }
	}
	related := relatedTask(m) != ""
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
		}
		guessed = true
		mine, its := r.likelihood(takes(r.Caller, m), related), latest.likelihood(takes(latest.Caller, m), related)
		if mine > its || mine == its && r.id > latest.id {
			latest = r
		}
	}
	return latest, guessed
}

// rehome gives questions to others whose request has ended without an answer to
// them, if they were its by a guess only, and somebody else may be meant.
func (k *conn) rehome() {
	for _, q := range k.takeHomeless() {
		if r, _ := k.asker(q.guessed); r == nil || !k.settle(q) {
			continue
		}
		<-q.handed
		if q.withdraw != nil {
			q.withdraw()
		}
		k.attribute(q.guessed)
	}
}

func (k *conn) takeHomeless() (all []*question) {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	all, k.homeless = k.homeless, nil
	return all
}

// ask hands a question to r, and its answer, once and unless the server has
// withdrawn it, to the server.
func (k *conn) ask(r *Request, m wire.Message, guessed bool) {
	q := questionOf(m, r)
	if !k.admit(q, m, guessed) {
		k.refuse(q, wire.CodeInternal, "The client cannot be asked %.100s: too many questions are open. Wait for answers to them.")
		return
	}
	q.withdraw = r.Ask(m, func(response wire.Message) {
		if k.settle(q) {
			k.reply(q, response)
		}
	})
	close(q.handed)
}

// admit notes a question for as long as its request is open: behind that it can
// be answered, and not withdrawn any more.
func (k *conn) admit(q *question, m wire.Message, guessed bool) bool {
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	if len(k.questions) >= maxQuestions {
		return false
	}
	if size := len(m.Raw()); guessed && k.guessedBytesLocked()+size <= maxGuessedBytes {
		q.guessed, q.size = m, size
	}
	if k.open[q.request.id] == q.request {
		k.questions[q], q.request.asked = true, true
	}
	return true
}

// guessedBytesLocked are in the questions that are kept for others.
func (k *conn) guessedBytesLocked() (n int) {
	for q := range k.questions {
		n += q.size
	}
	return n
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
			if q.guessed.Raw() != nil {
				k.homeless = append(k.homeless, q)
			}
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
