package upstream

import (
	"fmt"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// taker takes the questions of one request.
type taker struct {
	t         *testing.T
	questions chan taken
	withdrawn chan string // the server's ids
	careless  bool        // does not care for withdrawals
}

type taken struct {
	message wire.Message
	answer  func(wire.Message)
}

func newTaker(t *testing.T) *taker {
	return &taker{t: t, questions: make(chan taken, 2*maxQuestions), withdrawn: make(chan string, 10)}
}

func (k *taker) ask(m wire.Message, answer func(wire.Message)) func() {
	k.questions <- taken{m, answer}
	if k.careless {
		return nil
	}
	return func() { k.withdrawn <- string(m.ID()) }
}

// next waits for a question.
func (k *taker) next() (q taken) {
	k.t.Helper()
	doing(k.t, "a question", func() { q = <-k.questions })
	return q
}

func (k *taker) takes(r *Request) { r.Ask = k.ask }

func (q taken) accept() { q.answer(wire.Result([]byte(`"any"`), []byte(`{"action":"accept"}`))) }

// elicitation is a question of the server with more members in its _meta.
func elicitation(id, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":"sure?","_meta":{%s}}}`, id, meta)
}

func withdrawal(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
}
