package rawmcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// common deals with the methods that both eras have.
func (s *server) common(m message) {
	if m.Method == "notifications/cancelled" {
		s.cancel(string(member(m.Params, "requestId")), errCancelled)
		return
	}
	if m.ID == nil {
		return
	}
	if s.asks(m) {
		return
	}
	switch m.Method {
	case "tools/call":
		s.callTool(m)
	case "vendor/deafen": // answered, and nothing is read any more
		s.reply(m.ID, s.era.result(`"deaf":true`, false))
		for {
			time.Sleep(time.Hour)
		}
	case "vendor/echo":
		s.reply(m.ID, s.era.result(`"params":`+string(m.Params)+`,"one":1.0`, false))
	case "completion/complete": // it opens the door {value}, and is none that a server may ask in
		s.gates.release(text(member(m.Params, "argument", "value")))
		s.reply(m.ID, s.era.result(`"completion":{"values":["alpha","beta"],"total":2,"hasMore":false}`, false))
	default:
		s.list(m)
	}
}

func (s *server) list(m message) {
	switch m.Method {
	case "tools/list":
		s.reply(m.ID, s.era.result(s.era.tools(), true))
	case "prompts/list":
		s.reply(m.ID, s.era.result(`"prompts":[{"name":"greet","arguments":[{"name":"who","required":false}]}]`, true))
	case "prompts/get":
		s.reply(m.ID, s.era.result(`"messages":[{"role":"user","content":{"type":"text","text":"Hello."}}]`, false))
	case "resources/list":
		s.reply(m.ID, s.era.result(`"resources":[{"uri":"mem://one","name":"one"}]`, true))
	case "resources/templates/list":
		s.reply(m.ID, s.era.result(`"resourceTemplates":[{"uriTemplate":"mem://{name}","name":"any"}]`, true))
	case "resources/read":
		s.reply(m.ID, s.era.result(`"contents":[{"uri":"mem://one","mimeType":"text/plain","text":"1.0"}]`, true))
	default:
		s.fail(m.ID, methodNotFound, "Method not found: "+m.Method, "")
	}
}

// fail answers with an error; data is raw JSON or empty.
func (s *server) fail(id json.RawMessage, code int, text, data string) {
	s.refuse(id, errorObject(code, text, data))
}

func (s *server) refuse(id json.RawMessage, object string) {
	s.out.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":` + object + `}`)
}

func errorObject(code int, text, data string) string {
	if data != "" {
		data = `,"data":` + data
	}
	return fmt.Sprintf(`{"code":%d,"message":%s%s}`, code, quote(text), data)
}

// call runs a tool, or what works like one.
func (s *server) call(m message, tool string, run func(*call)) {
	s.effects.add("call " + tool)
	s.begin(string(m.ID), newCall(s, m, tool), run)
}

func newCall(s *server, m message, tool string) *call {
	return &call{
		s: s, id: m.ID, params: m.Params, tool: tool,
		args: member(m.Params, "arguments"), token: member(m.Params, "_meta", "progressToken"),
	}
}

// begin runs a call on a goroutine of its own, so that a waiting one blocks
// nobody, until it ends or what has this key is cancelled.
func (s *server) begin(key string, c *call, run func(*call)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c.ctx = ctx
	s.mu.Lock()
	s.running[key] = cancel
	s.mu.Unlock()
	s.calls.Go(func() {
		defer s.cancel(key, context.Canceled)
		run(c)
	})
}

func (s *server) cancel(key string, cause error) {
	s.mu.Lock()
	cancel := s.running[key]
	delete(s.running, key)
	s.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// pose makes a request to the client, which the line is; it is not sent.
func (s *server) pose(method, params string) (line string, a asked) {
	answer := make(chan message, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.questions++
	id := strconv.Itoa(s.questions)
	s.asked[id] = answer
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`, asked{id: id, reply: answer}
}

// request sends a request to the client and waits for the answer.
func (s *server) request(ctx context.Context, method, params string) (message, error) {
	line, question := s.pose(method, params)
	s.out.write(line)
	answer := question.reply
	select {
	case m := <-answer:
		return m, nil
	case <-ctx.Done():
		return message{}, context.Cause(ctx)
	}
}

func (s *server) answered(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer := s.asked[string(m.ID)]; answer != nil {
		delete(s.asked, string(m.ID))
		answer <- m
	}
}
