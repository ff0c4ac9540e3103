package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

// message is a line with its envelope taken apart; the members are raw bytes.
type message struct {
	Raw     string          `json:"-"`
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

func parseMessage(line string) (message, error) {
	m := message{Raw: line}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		return m, err
	}
	if m.Version != "2.0" {
		return m, errors.New(`"jsonrpc" is not "2.0"`)
	}
	return m, nil
}

// at is the raw value behind a path of members, nil if there is none.
func at(object json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil {
			return nil
		}
		object = members[name]
	}
	return object
}

// text is the string behind a path in the message's result, "" if there is none.
func (m message) text(path ...string) string {
	var s string
	_ = json.Unmarshal(at(m.Result, path...), &s)
	return s
}

// code is the error's code, 0 if the message is no error.
func (m message) code() int {
	var code int
	_ = json.Unmarshal(at(m.Error, "code"), &code)
	return code
}

// reason and outcome are what errors made by the proxy carry in their data.
func reason(object json.RawMessage) (reason, outcome string) {
	_ = json.Unmarshal(at(object, "data", "reason"), &reason)
	_ = json.Unmarshal(at(object, "data", "outcome"), &outcome)
	return reason, outcome
}

func request(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

func toolCall(id, tool, arguments string) string {
	return request(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// initialize opens the conversation in the initialize era and returns the answer.
func (h *host) initialize(version string) message {
	h.t.Helper()
	answer := h.ask(request(`"open"`, "initialize", fmt.Sprintf(
		`{"protocolVersion":%q,"capabilities":{"elicitation":{}},"clientInfo":{"name":"e2e","version":"1"}}`, version)))
	h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return answer
}

// The parts of _meta that a request of the stateless era may carry: the last two
// declare that every kind of question is answered.
const (
	metaVersion = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`
	metaPlain   = metaVersion + `{}`
	metaTasks   = metaVersion + `{` + extension + `}`
	metaAnswers = metaVersion + `{` + answersAll + `}`
	metaBoth    = metaVersion + `{` + answersAll + `,` + extension + `}`

	extension  = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
	answersAll = `"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{}`
)

// stateless builds requests of revision 2026-07-28, each complete in itself.
type stateless struct {
	Tasks   bool   // declare the Tasks extension
	Answers bool   // declare that questions are answered
	Meta    string // further members of _meta
}

func (s stateless) meta() string {
	switch {
	case s.Tasks && s.Answers:
		return metaBoth
	case s.Tasks:
		return metaTasks
	case s.Answers:
		return metaAnswers
	}
	return metaPlain
}

// request takes the params as raw JSON, without _meta.
func (s stateless) request(id, method, params string) string {
	meta := s.meta()
	if s.Meta != "" {
		meta += "," + s.Meta
	}
	rest := params[1:]
	if rest != "}" {
		rest = "," + rest
	}
	return request(id, method, `{"_meta":{`+meta+`}`+rest)
}

func (s stateless) toolCall(id, tool, arguments string) string {
	return s.request(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// taskOf returns the id in the answer that created a task, and insists that it did.
func taskOf(t testing.TB, created message) string {
	t.Helper()
	if created.text("resultType") != "task" || created.text("taskId") == "" {
		t.Fatalf("no task was created: %s", cut(created.Raw))
	}
	return created.text("taskId")
}
