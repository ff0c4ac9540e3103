package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Published clients in the matrix of TestMigration: what they make of what they
// are told is in this table, by the host they are.
//
//	sdk           @modelcontextprotocol/sdk, the tasks of 2025-11-25
//	ext-tasks     @modelcontextprotocol/ext-tasks and client, in a session
//	ext-tasks v2  the same, in the stateless era
//
// The first of them gets the result of a failed task if it asks for it, the second
// never asks.
var published = []sight{
	{"sdk", "result", "task completed · echo"},
	{"sdk", "isError", "task failed · isError: first: disk is full"},
	{"sdk", "error", "task failed · error -32050"},
	{"sdk", "cancel", "task cancelled · error -32603"},
	{"sdk", "input", "task completed · quizzed"},

	{"ext-tasks", "result", "task completed · echo"},
	{"ext-tasks", "isError", "task failed · error: first: disk is full"},
	{"ext-tasks", "error", "task failed · error: the tool broke"},
	{"ext-tasks", "cancel", "task cancelled"},
	{"ext-tasks", "input", "task completed · quizzed"},

	{"ext-tasks v2", "result", "task completed · echo"},
	{"ext-tasks v2", "isError", "task completed · isError: first: disk is full"},
	{"ext-tasks v2", "error", "task failed · error -32050"},
	{"ext-tasks v2", "cancel", "task cancelled"},
	{"ext-tasks v2", "input", "task completed · quizzed"},
}

var publishedHosts = []struct{ name, script, mode string }{
	{"sdk", "oldtasks.mjs", "legacy"},
	{"ext-tasks", "tasks.mjs", "legacy"},
	{"ext-tasks v2", "tasks.mjs", "auto"},
}

func TestMigrationOfPublishedHosts(t *testing.T) {
	for _, way := range transports {
		if way.name != "proxied" && way.name != "both over http" || testing.Short() && way.http {
			continue
		}
		for _, server := range migrationServers {
			for _, host := range publishedHosts {
				t.Run(way.name+"/"+host.name+"/"+server.tasks+" server", func(t *testing.T) {
					t.Parallel()
					p, seen := fixtureOver(t, way, server.fixture)
					p.Config = alwaysTasks
					j := job{Mode: host.mode, Answer: []byte(yes)}
					if way.http {
						j.URL = p.listen(t).url
					} else {
						j.Command = p.argv(t)
					}
					checkPublished(t, seen, host.name, j, host.script)
				})
			}
		}
	}
}

// checkPublished has the client make all calls of the table.
func checkPublished(t *testing.T, seen *records, host string, j job, script string) {
	t.Helper()
	var want []sight
	for _, row := range published {
		if row.host == host {
			want = append(want, row)
			j.Calls = append(j.Calls, publishedCall(t, outcomes[row.outcome]))
		}
	}
	heard := j.run(t, script)
	for i, row := range want {
		if diff := cmp.Diff(row.sees, heard.Calls[i].String()); diff != "" {
			t.Errorf("%s: the client sees something else (-want +got):\n%s", row.outcome, diff)
		}
		o := outcomes[row.outcome]
		if n := seen.count("call " + o.tool); n != 1 && !(n == 0 && o.cancelled) { // it may be cancelled before it is sent
			t.Errorf("%s was called %d times", o.tool, n)
		}
	}
	if diff := cmp.Diff([]string{"form?"}, heard.Questions); diff != "" {
		t.Errorf("asked was (-want +got):\n%s", diff)
	}
	if seen.count("cancelled gate") != seen.count("call gate") {
		t.Error("the server was not told of the cancel")
	}
}

func publishedCall(t *testing.T, o outcome) jobCall {
	t.Helper()
	door := t.TempDir() + "/door"
	call := jobCall{Tool: o.tool, Args: fmt.Appendf(nil, o.arguments, door), Cancel: o.cancelled}
	if !o.cancelled {
		call.Open = door
	}
	return call
}

// String is the call in short: what it became, how that ended, what came of it.
func (f followed) String() string {
	said := []string{f.Kind + " " + f.Outcome.Status}
	failure, result := f.Outcome.Error, f.Outcome.Result
	if f.Refusal != nil || f.Payload != nil {
		failure, result = f.Refusal, f.Payload
	}
	switch {
	case failure != nil && at(failure, "code") != nil:
		said = append(said, "error "+string(at(failure, "code")))
	case failure != nil:
		said = append(said, "error: "+text(at(failure, "message")))
	case result != nil && string(at(result, "isError")) == "true":
		said = append(said, "isError: "+firstText(result))
	case result != nil:
		said = append(said, firstText(result))
	}
	return strings.Join(said, " · ")
}

// A ticket passes clients that hold results against the schemas of their tools;
// the result that comes in the end has the form that was promised.
func TestTicketPassesPublishedHosts(t *testing.T) {
	for _, mode := range []string{"sdk", "legacy", "auto"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
			p.Config = "fallback_after: 50ms\n"
			path := t.TempDir() + "/door"
			call := jobCall{Tool: "typed", Args: fmt.Appendf(nil, waits, path), Open: path}
			heard := job{Mode: mode, Command: p.argv(t), Calls: []jobCall{call}}.run(t, "ticket.mjs")
			if ticket := heard.Calls[0]; ticket.TaskID == "" {
				t.Errorf("no ticket: %s", ticket.Outcome.Result)
			}
			if got := string(at(heard.Calls[1].Outcome.Result, "structuredContent")); got != `{"ok":true}` {
				t.Errorf("the result is %s", heard.Calls[1].Outcome.Result)
			}
			if n := seen.count("call typed"); n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}
