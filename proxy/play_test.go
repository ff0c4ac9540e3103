package proxy

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// play is one call that the server got, open until it is ended or its
// connection is.
type play struct {
	server  *server
	message wire.Message
	header  http.Header

	mu   sync.Mutex
	w    http.ResponseWriter // nil once nobody reads any more
	over chan struct{}
	done bool
}

func (p *play) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.w = nil
}

// gone reports whether nobody waits for the answer.
func (p *play) gone() bool {
	settle()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.w == nil
}

// says sends a message on the call's own stream, if somebody still reads it.
func (p *play) says(m wire.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && !p.done {
		fmt.Fprintf(p.w, "data: %s\n\n", m.Raw())
		p.w.(http.Flusher).Flush()
	}
}

const (
	elicitation = `{"method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"type":"object","properties":{}}}}`
	sampling    = `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":10}}`
	roots       = `{"method":"roots/list"}`
)

// asks sends a question, given as an object of method and params.
func (p *play) asks(id, question string) {
	method, _ := wire.String(wire.Get([]byte(question), "method"))
	m := wire.Request(0, method, wire.Get([]byte(question), "params"))
	p.says(m.With(wire.Changes{ID: wire.Quote(id)}))
}

func (p *play) withdraws(id string) {
	p.says(wire.Notification("notifications/cancelled", wire.Set(nil, "requestId", wire.Quote(id))))
}

// ends answers the call.
func (p *play) ends(result string) {
	p.says(wire.Result(p.message.ID(), []byte(result)))
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.done {
		p.done = true
		close(p.over)
	}
}

// asksBack answers a call of the stateless era with questions, an object, and a
// state; what is empty is left out.
func (p *play) asksBack(state, questions string) {
	result := []byte(`{"resultType":"input_required"}`)
	if questions != "" {
		result = wire.Set(result, "inputRequests", []byte(questions))
	}
	if state != "" {
		result = wire.Set(result, keyState, []byte(state))
	}
	p.ends(string(result))
}

const (
	one  = `{"x":` + elicitation + `}`
	done = `{"content":[],"resultType":"complete"}`
)
