package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// migration says what a host sees of a call, step by step, by what it knows of
// tasks and by what becomes of the call. It sees the same whatever the server
// knows of tasks, and over whatever transports both are reached.
//
//	plain, session   knows of no tasks, in the stateless era or in a session
//	ticket           likewise, where the proxy answers with tickets (fallback_after)
//	older            asks for tasks, as revision 2025-11-25 has them
//	extension        declares the Tasks extension
var migration = []sight{
	{"plain", "result", "echo"},
	{"plain", "isError", "isError: first: disk is full"},
	{"plain", "error", "error -32050: the tool broke"},
	{"plain", "cancel", "no answer"},
	{"plain", "input", "asked · quizzed"},

	{"session", "result", "echo"},
	{"session", "isError", "isError: first: disk is full"},
	{"session", "error", "error -32050: the tool broke"},
	{"session", "cancel", "no answer"},
	{"session", "input", "asked · quizzed"},

	{"ticket", "result", "ticket · working · echo"},
	{"ticket", "isError", "ticket · working · isError: first: disk is full"},
	{"ticket", "error", "ticket · working · error -32050: the tool broke"},
	{"ticket", "cancel", "ticket · working · cancelled · isError: was cancelled"},
	{"ticket", "input", "ticket · working · asked · quizzed"},

	{"ticket session", "result", "ticket · working · echo"},
	{"ticket session", "isError", "ticket · working · isError: first: disk is full"},
	{"ticket session", "error", "ticket · working · error -32050: the tool broke"},
	{"ticket session", "cancel", "ticket · working · cancelled · isError: was cancelled"},
	{"ticket session", "input", "ticket · working · asked · quizzed"},

	{"older", "result", "task working · completed · echo"},
	{"older", "isError", "task working · failed (first: disk is full) · isError: first: disk is full"},
	{"older", "error", "task working · failed (the tool broke) · error -32050: the tool broke"},
	{"older", "cancel", "task working · cancelled · again: error -32602 · error -32603"},
	{"older", "input", "task working · input_required · asked · completed · quizzed"},

	{"extension", "result", "task working · completed: echo"},
	{"extension", "isError", "task working · completed: isError: first: disk is full"},
	{"extension", "error", "task working · failed: error -32050: the tool broke"},
	{"extension", "cancel", "task working · cancelled · again: acknowledged"},
	{"extension", "input", "task working · input_required · asked · completed: quizzed"},
}

// migrationServers are what servers know of tasks.
var migrationServers = []struct{ tasks, fixture string }{
	{"none", "legacy -version 2025-11-25"},
	{"older", "legacy -version 2025-11-25 -tasks required -queue"},
	{"extension", "modern -tasks optional"},
}

// migrationHosts are the hosts of the matrix, with what the proxy is told for
// their sake.
var migrationHosts = []struct {
	name, config string
	play         func(*cell, outcome)
}{
	{"plain", alwaysTasks, (*cell).playPlain},
	{"session", alwaysTasks, (*cell).playSession},
	{"ticket", "fallback_after: 50ms\n", (*cell).playTicket},
	{"ticket session", "fallback_after: 50ms\n", (*cell).playTicketSession},
	{"older", "", (*cell).playOlder},
	{"extension", alwaysTasks, (*cell).playExtension},
}

func TestMigration(t *testing.T) {
	for _, way := range transports {
		pair := way.name == "proxied" || way.name == "host over http" || way.name == "server over http" || way.name == "both over http"
		if !pair || testing.Short() && !way.short {
			continue
		}
		for _, server := range migrationServers {
			for _, host := range migrationHosts {
				name := fmt.Sprintf("%s/%s host/%s server", way.name, host.name, server.tasks)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					p, seen := fixtureOver(t, way, server.fixture)
					p.Config = host.config
					c := &cell{h: startOver(t, way, p), seen: seen, mrtr: server.tasks == "extension", outcomes: outcomes}
					c.checkAll(t, migration, host.name, host.play)
				})
			}
		}
	}
}

// sight is what one host sees of one outcome.
type sight struct{ host, outcome, sees string }

// checkAll plays what the table says of a host.
func (c *cell) checkAll(t *testing.T, table []sight, host string, play func(*cell, outcome)) {
	for _, row := range table {
		if row.host == host {
			t.Run(row.outcome, func(t *testing.T) { c.check(t, c.outcomes[row.outcome], row.sees, play) })
		}
	}
}

func (c *cell) check(t *testing.T, o outcome, want string, play func(*cell, outcome)) {
	c.t, c.trace, c.door = t, nil, t.TempDir()+"/door"
	c.calls = c.seen.count("call " + o.tool)
	cancels := c.seen.count("cancelled " + o.tool)
	if play(c, o); c.h.t.Failed() {
		t.FailNow()
	}
	if diff := cmp.Diff(want, strings.Join(c.trace, " · ")); diff != "" {
		t.Errorf("the host sees something else (-want +got):\n%s", diff)
	}
	if o.cancelled {
		c.h.await("the server to be told of the cancel", func() bool { return c.seen.count("cancelled "+o.tool) == cancels+1 })
	}
	most := c.calls + 1
	if o.asks && c.mrtr {
		most++ // a server of the stateless era may be called again with the answer
	}
	if n := c.seen.count("call " + o.tool); n <= c.calls || n > most {
		t.Errorf("the tool was called %d times", n-c.calls)
	}
}

// outcome is what becomes of a call.
type outcome struct {
	tool            string
	arguments       string // with the path of the door
	cancelled, asks bool
}

const waits = `{"hold":%q}`

var outcomes = map[string]outcome{
	"result":  {tool: "echo", arguments: waits},
	"isError": {tool: "fail", arguments: waits},
	"error":   {tool: "rpcerror", arguments: waits},
	"cancel":  {tool: "gate", arguments: waits, cancelled: true},
	"input":   {tool: "quiz", arguments: waits, asks: true},
}

// fixtureOver is a fixture with its flags, behind a front if the way has one.
func fixtureOver(t *testing.T, way transport, fixture string) (*proxied, *records) {
	t.Helper()
	words := strings.Fields(fixture)
	p, seen := proxyAround(t, words[0], words[1:]...)
	if way.server != nil {
		p.URL, p.Host.Apart = way.server(t, p.Upstream), true
	}
	return p, seen
}

func startOver(t *testing.T, way transport, p *proxied) *host {
	t.Helper()
	if way.http {
		return p.startHTTP(t)
	}
	return p.start(t)
}
