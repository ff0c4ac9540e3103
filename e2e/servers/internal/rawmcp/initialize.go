package rawmcp

import (
	"os"
	"sync"
)

// initializeEra is the life of a server that opens with initialize
// (2024-11-05 to 2025-11-25) and has never heard of server/discover.
type initializeEra struct {
	s          *server
	mu         sync.Mutex
	opened     bool
	subscribed map[string]bool // by URI
}

// ServeInitialize serves stdio in the initialize era until stdin ends.
func ServeInitialize(opts Options) {
	s := newServer(opts)
	s.era = &initializeEra{s: s, subscribed: map[string]bool{}}
	s.serve()
}

func (e *initializeEra) handle(m message) bool {
	if !e.opened && m.Method != "initialize" && e.opts().SilentProbe {
		return true
	}
	switch m.Method {
	case "initialize":
		e.opened = true
		e.s.reply(m.ID, e.opening())
		for range e.opts().Eager {
			e.changed("notifications/tools/list_changed", "")
		}
	case "server/discover":
		e.probed(m)
	case "ping", "logging/setLevel":
		e.s.reply(m.ID, `{}`)
	case "tasks/get", "tasks/result", "tasks/list", "tasks/cancel":
		return e.tasks(m)
	case "resources/subscribe", "resources/unsubscribe":
		e.subscribe(text(member(m.Params, "uri")), m.Method == "resources/subscribe")
		e.s.reply(m.ID, `{}`)
	default:
		return false
	}
	return true
}

func (e *initializeEra) opts() *Options { return &e.s.opts }

// opening answers every client with the one revision this server speaks.
func (e *initializeEra) opening() string {
	return `{"protocolVersion":"` + e.opts().Version + `","capabilities":{"tools":{"listChanged":true},` +
		`"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"logging":{},"completions":{},` +
		`"experimental":{"x-odd":{"one":1.0}}` + e.capability() + `},"serverInfo":{"name":"legacy-fixture","version":"1.0.0"},` +
		`"instructions":"Call echo first."}`
}

func (e *initializeEra) probed(m message) {
	switch {
	case e.opts().ExitOnProbe:
		os.Exit(3)
	case e.opts().GarbageProbe:
		e.s.out.write("<html>what is this?</html>")
	default:
		e.s.fail(m.ID, e.opts().ProbeCode, "Method not found: server/discover", "")
	}
}

func (e *initializeEra) subscribe(uri string, on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.subscribed[uri] = on
}

func (e *initializeEra) result(members string, _ bool) string { return `{` + members + `}` }

func (e *initializeEra) changed(method, uri string) {
	e.mu.Lock()
	wanted := uri == "" || e.subscribed[uri]
	e.mu.Unlock()
	if wanted {
		e.s.notify(method, changeParams(uri, ""))
	}
}

// ask sends the request that {method} names, elicitation/create by default,
// and makes it {bytes} longer than it need be.
func (e *initializeEra) ask(c *call) {
	params := askParams
	if pad := padding(c); pad != "" {
		params = `{"x-pad":"` + pad + `",` + askParams[1:]
	}
	answer, err := c.s.request(c.ctx, askMethod(c), params)
	switch {
	case err != nil:
		c.cancelled()
	case answer.Error != nil:
		c.respond(textResult("refused") + `,"structuredContent":{"error":` + string(answer.Error) + `}`)
	default:
		c.respond(textResult("answered") + `,"structuredContent":{"answer":` + string(answer.Result) + `}`)
	}
}

func (e *initializeEra) logs(*call) bool { return true }

// tools stamps what SDKs stamp, which have the member since 2025-11-25.
func (e *initializeEra) tools() string {
	return toolList(func(tool string) string {
		if e.opts().Version < "2025-11-25" {
			return ""
		}
		return `,"execution":{"taskSupport":"` + e.opts().support(tool) + `"}`
	})
}
