package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Judge judges what one host hears from one server. The zero value has heard
// nothing yet. Any goroutine may use it.
type Judge struct {
	mu        sync.Mutex
	asked     map[string]asked // by the raw id
	initiated bool             // the host has sent initialize
	older     bool             // the answer named a revision before 2025-11-25
	offers    bool             // it offered tasks
}

// asked is a request that was sent.
type asked struct {
	document Document
	method   string
	tasks    bool            // the request declared the Tasks extension
	wants    bool            // the request asked for a task, as revision 2025-11-25 has them
	task     json.RawMessage // what it names
	older    bool            // its session is of a revision before 2025-11-25
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

const (
	metaVersion = "io.modelcontextprotocol/protocolVersion"
	metaClient  = "io.modelcontextprotocol/clientCapabilities"
	extension   = "io.modelcontextprotocol/tasks"
)

// Sent notes a line before it is sent. What is no request is passed over.
func (j *Judge) Sent(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil || m.ID == nil || m.Method == "" {
		return
	}
	a := asked{document: Initialize, method: m.Method, task: member(m.Params, "taskId")}
	a.wants = member(m.Params, "task") != nil && m.Method == "tools/call"
	if member(m.Params, "_meta", metaVersion) != nil {
		a.document = Stateless
		a.tasks = member(m.Params, "_meta", metaClient, "extensions", extension) != nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.asked == nil {
		j.asked = map[string]asked{}
	}
	j.asked[string(m.ID)] = a
	j.initiated = j.initiated || m.Method == "initialize"
}

// Received says what is wrong with a line that came. Sessions of a revision
// before 2025-11-25 are judged by that one, which added to them and took
// nothing away. An answer to a request that is not known, and methods of
// nobody's specification, need only the form of JSON-RPC.
func (j *Judge) Received(line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if m.Method != "" {
		return j.judgeUnasked(m, line)
	}
	a, known := j.asked[string(m.ID)]
	if !known {
		a.document = j.era()
	}
	if m.Error != nil {
		return a.judgeError(m, line)
	}
	if a.method == "initialize" {
		j.older = text(m.Result, "protocolVersion") < string(Initialize)
		j.offers = member(m.Result, "capabilities", "tasks") != nil
	}
	a.older, a.wants = j.older, a.wants && j.offers
	return errors.Join(Validate(a.document, "JSONRPCResultResponse", line), a.judgeResult(m.Result))
}

// era is that of what no request of the host explains.
func (j *Judge) era() Document {
	if j.initiated {
		return Initialize
	}
	return Stateless
}

// judgeUnasked takes notifications on a subscription for what they are even
// where the host speaks both eras.
func (j *Judge) judgeUnasked(m message, line []byte) error {
	document := j.era()
	if member(m.Params, "_meta", "io.modelcontextprotocol/subscriptionId") != nil {
		document = Stateless
	}
	if name := unasked[Tasks][m.Method]; name != "" {
		return errors.Join(Validate(Tasks, name, line), judgeOutcome(m.Params))
	}
	if m.ID != nil && document == Stateless {
		return fmt.Errorf("%s: revision %s has no requests from a server", m.Method, Stateless)
	}
	if name := unasked[document][m.Method]; name != "" {
		return errors.Join(Validate(document, name, line), judgeRelated(m))
	}
	if m.ID != nil {
		return Validate(document, "JSONRPCRequest", line)
	}
	return Validate(document, "JSONRPCNotification", line)
}

func (a asked) judgeError(m message, line []byte) error {
	if name := failures[a.document][string(member(m.Error, "code"))]; name != "" {
		return Validate(a.document, name, line)
	}
	return Validate(a.document, "JSONRPCErrorResponse", line)
}

// judgeResult looks at resultType first: the schemas let it be any string.
func (a asked) judgeResult(result json.RawMessage) error {
	if a.document == Initialize {
		return a.judgeSession(result)
	}
	switch kind := text(result, "resultType"); {
	case kind == "task":
		return a.judgeCreated(result)
	case kind == "input_required" && mayAsk[a.method]:
		return Validate(Stateless, "InputRequiredResult", result)
	case kind != "complete" && a.method != "":
		return fmt.Errorf("a result of %s with resultType %q", a.method, kind)
	}
	if name := results[Tasks][a.method]; name != "" {
		return errors.Join(Validate(Tasks, name, result), judgeOutcome(result), a.judgeNamed(result))
	}
	return errors.Join(validateNamed(Stateless, results[Stateless][a.method], result), a.judgeOffer(result))
}

// mayAsk are the methods whose result may be a question (2026-07-28, MRTR).
var mayAsk = map[string]bool{"tools/call": true, "prompts/get": true, "resources/read": true}

// judgeCreated: "A server MUST NOT return CreateTaskResult to a client that did
// not include the extension capability on its request", and only of the
// methods that support it (ext-tasks, Capability Negotiation).
func (a asked) judgeCreated(result json.RawMessage) error {
	if a.method != "tools/call" || !a.tasks {
		return fmt.Errorf("a task for %s, with tasks declared: %v", a.method, a.tasks)
	}
	return Validate(Tasks, "CreateTaskResult", result)
}

// judgeOutcome looks into a task: the schema of the extension lets its result
// and its error be any object, the text wants those of the original request.
func judgeOutcome(task json.RawMessage) error {
	switch text(task, "status") {
	case "completed":
		return Validate(Stateless, "CallToolResult", member(task, "result"))
	case "failed":
		return Validate(Stateless, "Error", member(task, "error"))
	}
	return nil
}

func validateNamed(document Document, name string, value json.RawMessage) error {
	if name == "" {
		return nil
	}
	return Validate(document, name, value)
}
