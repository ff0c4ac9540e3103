package rawmcp

import (
	"encoding/json"
	"sync"
)

const (
	revision = "2026-07-28"
	vendor   = "io.modelcontextprotocol/"
)

// statelessEra is the life of a server that knows revision 2026-07-28 alone.
type statelessEra struct {
	s       *server
	mu      sync.Mutex
	listens map[string]json.RawMessage // filter by raw request id
}

// ServeStateless serves stdio in the stateless era until stdin ends.
func ServeStateless(opts Options) {
	s := newServer(opts)
	s.era = &statelessEra{s: s, listens: map[string]json.RawMessage{}}
	s.serve()
}

func (e *statelessEra) handle(m message) bool {
	if m.ID == nil {
		e.ended(m)
		return false
	}
	if !e.admit(m) {
		return true
	}
	switch m.Method {
	case "server/discover":
		e.s.reply(m.ID, e.result(`"supportedVersions":["`+revision+`"],"capabilities":{"tools":{"listChanged":true},`+
			`"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"logging":{},"completions":{},`+
			`"experimental":{"x-odd":{"one":1.0}}`+e.capability()+`},"instructions":"Call echo first."`, true))
	case "tasks/get", "tasks/update", "tasks/cancel":
		return e.tasks(m)
	case "subscriptions/listen":
		e.listen(m)
	case "vendor/hang-up":
		e.hangUp(m)
	default:
		return false
	}
	return true
}

// admit checks what every request of the revision must carry.
func (e *statelessEra) admit(m message) bool {
	if m.Method == "initialize" {
		e.s.fail(m.ID, methodNotFound, "Method not found: initialize", "")
		return false
	}
	meta := member(m.Params, "_meta")
	version, capabilities := member(meta, vendor+"protocolVersion"), member(meta, vendor+"clientCapabilities")
	if version == nil || capabilities == nil {
		e.s.fail(m.ID, invalidParams, "params._meta lacks the protocol version or the client's capabilities", "")
		return false
	}
	if text(version) != revision {
		e.s.fail(m.ID, unsupportedVersion, "Unsupported protocol version", `{"supported":["`+revision+`"],"requested":`+string(version)+`}`)
		return false
	}
	return true
}

func (e *statelessEra) listen(m message) {
	filter, refusal := e.accepted(m)
	if refusal != "" {
		e.s.refuse(m.ID, refusal)
		return
	}
	e.mu.Lock()
	e.listens[string(m.ID)] = filter
	e.mu.Unlock()
	e.s.notify("notifications/subscriptions/acknowledged", `{"_meta":{"`+vendor+`subscriptionId":`+string(m.ID)+`},"notifications":`+string(filter)+`}`)
}

// hangUp ends all listens, {by} "result" or else "notification", and answers.
func (e *statelessEra) hangUp(m message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.listens {
		if text(member(m.Params, "by")) == "result" {
			e.s.reply(json.RawMessage(id), `{"resultType":"complete","_meta":{"`+vendor+`subscriptionId":`+id+`}}`)
		} else {
			e.s.notify("notifications/cancelled", `{"requestId":`+id+`,"reason":"maintenance"}`)
		}
		delete(e.listens, id)
	}
	e.s.reply(m.ID, e.result(`"hungUp":true`, false))
}

// ended forgets a listen that its client cancelled.
func (e *statelessEra) ended(m message) {
	if m.Method == "notifications/cancelled" {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.listens, string(member(m.Params, "requestId")))
	}
}

func (e *statelessEra) result(members string, cached bool) string {
	hints := ""
	if cached {
		hints = `,"ttlMs":0,"cacheScope":"private"`
	}
	return `{"resultType":"complete",` + members + hints + `,"_meta":{"` + vendor + `serverInfo":{"name":"modern-fixture","version":"1.0.0"}}}`
}

func (e *statelessEra) changed(method, uri string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, filter := range e.listens {
		if wants(filter, method, uri) {
			e.s.notify(method, changeParams(uri, `"_meta":{"`+vendor+`subscriptionId":`+id+`}`))
		}
	}
}

// ask answers with a question; the client asks again with the reply.
func (e *statelessEra) ask(c *call) {
	if reply := member(c.params, "inputResponses", "answer"); reply != nil {
		c.respond(textResult("answered") + `,"structuredContent":{"answer":` + string(reply) + `,"state":` + quote(text(member(c.params, "requestState"))) + `}`)
		return
	}
	c.s.reply(c.id, `{"resultType":"input_required","inputRequests":{"answer":{"method":"`+askMethod(c)+`","params":`+askParams+`}},"requestState":"state \u00e9 1"}`)
}

// logs: without a level in the request there must be no log messages (2026-07-28, logging).
func (e *statelessEra) logs(c *call) bool {
	return member(c.params, "_meta", vendor+"logLevel") != nil
}

func (e *statelessEra) tools() string { return toolList(func(string) string { return "" }) }
