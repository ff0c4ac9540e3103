package host

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// questions are the requests of an upstream server to the host (sampling,
// elicitation, roots, ping) that wait for an answer. They go out under ids of
// our own, so that those of one run of the server never meet those of another.
type questions struct {
	send func(wire.Message)

	mu   sync.Mutex
	last int64
	open map[string]question // by our id
}

type question struct {
	theirs []byte // the server's id; the proxy's own questions have one that no server's has
	answer func(wire.Message)
	task   []byte // the related task that its _meta names; nil for none
}

func (q question) isOurs() bool { return string(q.theirs) == string(proxy.QuestionID) }

func newQuestions(send func(wire.Message)) *questions {
	return &questions{send: send, open: map[string]question{}}
}

// ask sends a question by the way that it belongs to. What it returns takes the
// question back, if it is still open.
func (q *questions) ask(m wire.Message, answer func(wire.Message), send func(wire.Message)) (withdraw func()) {
	q.mu.Lock()
	if len(q.open) >= maxQuestions {
		q.mu.Unlock()
		answer(unasked())
		return func() {}
	}
	q.last++
	id := strconv.AppendInt(nil, q.last, 10)
	// Parts of the message would keep all of it in memory.
	q.open[string(id)] = question{bytes.Clone(m.ID()), answer, bytes.Clone(wire.Lookup(m.Params(), "_meta", metaRelatedTask))}
	q.mu.Unlock()
	send(m.With(wire.Changes{ID: id}))
	return func() { q.takeBack(string(id)) }
}

func (q *questions) takeBack(id string) {
	q.mu.Lock()
	asked, open := q.open[id]
	delete(q.open, id)
	q.mu.Unlock()
	if open {
		q.takenBack(id, asked.task, "the answer is not needed any more")
	}
}

// takenBack says so to the host (revision 2025-11-25, Cancellation; what concerns
// a task names it, Tasks, Associating Task-Related Messages).
func (q *questions) takenBack(id string, task []byte, reason string) {
	params := wire.Set(wire.Set(nil, "reason", wire.Quote(reason)), "requestId", []byte(id))
	if task != nil {
		params = wire.Set(params, "_meta", wire.Set(nil, metaRelatedTask, task))
	}
	q.send(wire.Notification("notifications/cancelled", params))
}

// maxQuestions may be open at a time.
const maxQuestions = 1000

// refuse answers a question that cannot be put to the host, under our id.
func (q *questions) refuse(m wire.Message) {
	q.answer(unasked().With(wire.Changes{ID: m.ID()}))
}

func unasked() wire.Message {
	return wire.Failure(noID, wire.Errorf(wire.CodeInternal, "The client could not be asked: it does not take messages, or too many questions are open."))
}

// answer passes the host's response to whoever asked; others are dropped.
func (q *questions) answer(m wire.Message) {
	q.mu.Lock()
	asked, ok := q.open[string(m.ID())]
	delete(q.open, string(m.ID()))
	q.mu.Unlock()
	if ok {
		asked.answer(m)
	}
}

// withdraw translates the server's notifications/cancelled.
func (q *questions) withdraw(m wire.Message) {
	theirs := string(wire.Get(m.Params(), "requestId"))
	q.mu.Lock()
	var id string
	for ours, asked := range q.open {
		if string(asked.theirs) == theirs {
			id = ours
			delete(q.open, ours)
		}
	}
	q.mu.Unlock()
	if id != "" {
		q.send(m.With(wire.Changes{Params: wire.Set(m.Params(), "requestId", []byte(id))}))
	}
}

// withdrawAll is for the death of the server: nobody waits for the answers to its
// questions any more.
func (q *questions) withdrawAll() {
	q.mu.Lock()
	var ids []string
	for id, asked := range q.open {
		if !asked.isOurs() {
			ids = append(ids, id)
			delete(q.open, id)
		}
	}
	q.mu.Unlock()
	for _, id := range ids {
		q.takenBack(id, nil, "the server that asked has ended")
	}
}
