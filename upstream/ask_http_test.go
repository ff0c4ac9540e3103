package upstream

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// asking servers have a stream of their own, on which they say what comes by
// say, and hold calls open.
func askingServer(t *testing.T, say <-chan string) *web {
	return legacy(t, map[string]handler{
		"GET": func(w http.ResponseWriter, v visit) {
			out := openStream(w)
			for {
				select {
				case text := <-say:
					out.send("data: " + text + "\n\n")
				case <-v.request.Context().Done():
					return
				}
			}
		},
		"tools/call": hang, "x/own": result("{}"),
	})
}

func TestAQuestionOnTheServersOwnStreamIsAttributed(t *testing.T) {
	say := make(chan string)
	server := askingServer(t, say)
	c := dial(t, server.URL, nil)
	older, newer := newTaker(t), newTaker(t)
	send(t, c, "tools/call", `{"name":"run"}`, older.takes)
	id := server.await("tools/call", 1).message.ID()
	send(t, c, "tools/call", `{"name":"run"}`, newer.takes)
	server.await("tools/call", 2)
	say <- elicitation(`"q1"`, fmt.Sprintf(`"progressToken":%s`, id))
	say <- elicitation(`"q2"`, "")
	say <- withdrawal(`"q1"`)
	if got := string(older.next().message.ID()); got != `"q1"` {
		t.Errorf("the older call got %s", got)
	}
	doing(t, "the withdrawal", func() {
		if got := <-older.withdrawn; got != `"q1"` {
			t.Errorf("%s was withdrawn", got)
		}
	})
	newer.next().accept()
	if got := string(server.await("answer", 1).message.Raw()); got != `{"jsonrpc":"2.0","id":"q2","result":{"action":"accept"}}` {
		t.Errorf("the server got %s", got)
	}
}

func TestACallThatWaitsForItsLevelIsNotTheOneThatAsks(t *testing.T) {
	say := make(chan string)
	server := askingServer(t, say)
	server.on("initialize", result(`{"protocolVersion":"2025-11-25","capabilities":{"logging":{}}}`))
	server.on("logging/setLevel", hang)
	c := dial(t, server.URL, nil)
	running, waiting := newTaker(t), newTaker(t)
	send(t, c, "tools/call", `{"name":"run"}`, running.takes)
	server.await("tools/call", 1)
	send(t, c, "tools/call", `{"name":"run"}`, func(r *Request) {
		at("info")(r)
		waiting.takes(r)
	})
	server.await("logging/setLevel", 1)
	say <- elicitation("1", "")
	running.next().accept()
	server.await("answer", 1)
	if len(waiting.questions) > 0 {
		t.Error("the call that the server has not seen got a question")
	}
}

func TestAQuestionOnTheStreamOfARequestThatTakesNoneIsRefused(t *testing.T) {
	taker, refused := newTaker(t), make(chan struct{})
	server := askingServer(t, nil)
	server.on("tools/list", func(w http.ResponseWriter, v visit) {
		out := openStream(w)
		out.send("data: " + elicitation("7", "") + "\n\n")
		<-refused
		out.message(wire.Result(v.message.ID(), []byte("{}")))
	})
	c := dial(t, server.URL, nil)
	send(t, c, "tools/call", `{"name":"run"}`, taker.takes)
	server.await("tools/call", 1)
	list := send(t, c, "tools/list", "{}", nil)
	answer := server.await("answer", 1).message
	if string(wire.Get(answer.Err(), "code")) != "-32603" || !strings.Contains(string(answer.Raw()), "elicitation/create") {
		t.Errorf("the server got %s", answer.Raw())
	}
	close(refused)
	list.result()
	if len(taker.questions) > 0 {
		t.Error("another call got the question")
	}
}

// Over HTTP the withdrawal has a goroutine of its own, and may come while the
// question is still being handed over.
func TestAWithdrawalThatOvertakesItsQuestionIsHeeded(t *testing.T) {
	say := make(chan string)
	server := askingServer(t, say)
	server.on("tools/call", func(w http.ResponseWriter, v visit) {
		out := openStream(w)
		out.send("data: " + elicitation("7", "") + "\n\n")
		<-v.request.Context().Done()
	})
	c := dial(t, server.URL, nil)
	asked, withdrawn := make(chan struct{}), make(chan struct{})
	send(t, c, "tools/call", `{"name":"run"}`, func(r *Request) {
		r.Ask = func(wire.Message, func(wire.Message)) func() {
			say <- withdrawal("7")
			for c.openQuestions() > 0 { // until the other goroutine has it
				yieldABit()
			}
			close(asked)
			return func() { close(withdrawn) }
		}
	})
	within(t, "the question", asked)
	within(t, "the withdrawal", withdrawn)
}

func (c *Client) openQuestions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conn.questions)
}
