package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/config"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
)

// A policy that gets lost on its way would be felt only where it matters: a
// call that nobody confirmed reaches the server.
func TestPoliciesOfTheFileReachTheProxy(t *testing.T) {
	cfg, err := config.Parse("F", []byte(`
{task: required, after: 1s, ttl: 2s, poll_interval: 3s, max_run: 4s, stall: 5s, input: before-task, input_timeout: 6s, approve: true, tools: {
  a: {task: never, approve: false}, b: {task: always, input: in-task, input_timeout: 1m}, c: {task: after, approve: destructive}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	top := proxy.Policy{
		Task: proxy.Required, After: time.Second, TTL: 2 * time.Second, PollInterval: 3 * time.Second, MaxRun: 4 * time.Second,
		Stall: 5 * time.Second, Input: proxy.BeforeTask, InputTimeout: 6 * time.Second, Approve: proxy.ApproveAlways,
	}
	a, b, c := top, top, top
	a.Task, a.Approve = proxy.Never, proxy.ApproveNever
	b.Task, b.Input, b.InputTimeout = proxy.Always, proxy.InTask, time.Minute
	c.Task, c.Approve = proxy.After, proxy.ApproveDestructive
	want := proxy.Policies{Default: top, Tools: []proxy.ToolPolicy{{Pattern: "a", Policy: a}, {Pattern: "b", Policy: b}, {Pattern: "c", Policy: c}}}
	if diff := cmp.Diff(want, policies(cfg)); diff != "" {
		t.Error(diff)
	}
}
