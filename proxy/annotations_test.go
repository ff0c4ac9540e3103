package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// pages answer tools/list one after the other; the cursor of each is its number.
func pages(all ...string) func(cursor string) string {
	return func(cursor string) string {
		page := all[len(cursor)]
		if len(cursor)+1 == len(all) {
			return `{"tools":[` + page + `]}`
		}
		return `{"tools":[` + page + `],"nextCursor":"` + cursor + `x"}`
	}
}

func TestOnlyDestructiveToolsAreConfirmed(t *testing.T) {
	const other, second = `{"name":"other","annotations":{"readOnlyHint":true}}`, `{"name":"second"}`
	is := func(annotations string) string { return `{"name":"deploy","annotations":` + annotations + `}` }
	for name, c := range map[string]struct {
		tools func(string) string
		asks  bool
	}{
		"says nothing":           {pages(`{"name":"deploy"}`), true},
		"says nothing of it":     {pages(is(`{"title":"x"}`)), true},
		"destructive":            {pages(is(`{"destructiveHint":true}`)), true},
		"not destructive":        {pages(is(`{"destructiveHint":false}`)), false},
		"reads":                  {pages(is(`{"readOnlyHint":true}`)), false},
		"reads and destroys":     {pages(is(`{"readOnlyHint":true,"destructiveHint":true}`)), false},
		"writes":                 {pages(is(`{"readOnlyHint":false}`)), true},
		"hint of another type":   {pages(is(`{"readOnlyHint":"true","destructiveHint":0}`)), true},
		"on a later page":        {pages(other, second, is(`{"readOnlyHint":true}`)), false},
		"bad on a later page":    {pages(other, second, is(`{}`)), true},
		"unknown":                {pages(other, second), true},
		"list without an end":    {func(string) string { return `{"tools":[` + other + `],"nextCursor":"x"}` }, true},
		"list that is no list":   {func(string) string { return `{"tools":{"name":"deploy"},"nextCursor":null}` }, true},
		"list that fails":        {func(string) string { return "" }, true},
		"list that fails midway": {func(cursor string) string { return strings.Repeat(`{"tools":[],"nextCursor":"x"}`, 1-len(cursor)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, era := range []upstream.Era{upstream.Initialize, upstream.Stateless} {
				bubble(t, func(t *testing.T, store *disk) {
					r := newRig(t, store, era, Policy{Task: After, After: time.Minute, Approve: ApproveDestructive})
					r.tools = c.tools
					call := r.calls(deploy, asTask)
					if c.asks {
						id := call.task().ID
						r.wantAsked(id, "approval-1")
						r.server.idle(time.Second)
						r.update(id, accepts("approval-1"))
						r.server.next().ends(done)
						r.wantEnd(id, "completed")
					} else {
						r.server.next().ends(done)
						call.result()
					}
					r.wantIdle()
				})
			}
		})
	}
}

// hangingList is a list that never comes, until it does.
func hangingList() (tools func(string) string, comes func()) {
	list := make(chan struct{})
	return func(string) string { <-list; return pages(`{"name":"deploy"}`)("") }, func() { close(list) }
}

func TestAListThatDoesNotComeHoldsTheCallOnly(t *testing.T) {
	for name, c := range map[string]struct {
		policy Policy
		end    string
	}{
		"becomes a task": {Policy{Task: After, After: time.Second}, "cancelled"},
		"is a task":      {Policy{Task: Always}, "cancelled"},
		"max_run":        {Policy{Task: Always, MaxRun: time.Second}, "failed max_run"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				c.policy.Approve = ApproveDestructive
				r := newRig(t, store, upstream.Initialize, c.policy)
				tools, comes := hangingList()
				r.tools = tools
				id := r.calls(deploy, asTask).task().ID
				time.Sleep(time.Second)
				if c.policy.MaxRun == 0 {
					r.wantAsked(id)
					r.cancel(id)
				}
				r.wantEnd(id, c.end)
				comes()
				r.server.idle(time.Second)
				r.wantIdle()
			})
		})
	}
}

func TestACallIsCancelledWhileItsToolIsLookedUp(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{Approve: ApproveDestructive})
		tools, comes := hangingList()
		r.tools = tools
		c := r.calls(deploy, nil)
		settle()
		c.cancel(notice)
		settle()
		comes()
		c.wantNone()
		r.server.idle(time.Second)
		r.wantIdle()
	})
}
