package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const everyKey = `
command: [npx, -y, some-server, 8080, 1.0, "", "a b"]
state_dir: /var/lib/tasks
node: eu_1
upstream_era: initialize
detach: never
task: always
after: 1500ms
ttl: 2d
poll_interval: 2s
max_run: 1h30m
stall: 10m
input: before-task
input_timeout: 20m
approve: destructive
fallback_after: 45s
keep_alive: 20s
upstream_tasks: passthrough
concurrency: 3
fallback: {result: job_result, status: job_status, cancel: job_cancel, wait: 30s}
older_tasks: {error_status: completed, immediate_response: It is under way.}
tools:
  greet:     {task: never, approve: false}
  "build_*":
    task: required
    max_run: 0s
    stall: 0s
    ttl: 1h
    poll_interval: 500ms
    input: in-task
    input_timeout: 2m
    approve: true
    fallback_after: 0s
    keep_alive: 0s
    concurrency: 2
  lint:      {task: after, after: 0s}
  slow:      {task: after}
limits: {message_bytes: 64KiB, running: 10, running_per_owner: 5, queued: 20, when_full: reject, stored: 30, store_bytes: 2GiB, result_bytes: 1MiB, large_results: truncate, questions: 40, listeners: 50}
log_level: debug
log_payloads: true
`

func TestEveryKeyIsRead(t *testing.T) {
	top := Policy{Always, 1500 * time.Millisecond, 48 * time.Hour, 2 * time.Second, 90 * time.Minute, 10 * time.Minute,
		BeforeTask, 20 * time.Minute, ApproveDestructive, 45 * time.Second, 20 * time.Second, TasksPassthrough, 3}
	tool := func(change func(*Policy)) Policy {
		p := top
		change(&p)
		return p
	}
	want := Config{
		Command:     []string{"npx", "-y", "some-server", "8080", "1.0", "", "a b"},
		StateDir:    "/var/lib/tasks",
		Node:        "eu_1",
		UpstreamEra: "initialize",
		Detach:      "never",
		Fallback:    Fallback{"job_result", "job_status", "job_cancel", 30 * time.Second},
		OlderTasks:  OlderTasks{"completed", "It is under way."},
		Policy:      top,
		Tools: []ToolPolicy{
			{"greet", tool(func(p *Policy) { p.Task, p.Approve = Never, ApproveNever })},
			{"build_*", Policy{Required, top.After, time.Hour, 500 * time.Millisecond, 0, 0, InTask, 2 * time.Minute, ApproveAlways, 0, 0, TasksPassthrough, 2}},
			{"lint", tool(func(p *Policy) { p.Task, p.After = After, 0 })},
			{"slow", tool(func(p *Policy) { p.Task = After })},
		},
		Listen:  Default().Listen,
		Running: 10, RunningPerOwner: 5, Queued: 20, WhenFull: "reject",
		Stored: 30, StoreBytes: 2 << 30, ResultBytes: 1 << 20, LargeResults: "truncate", Questions: 40, Listeners: 50,

		MessageBytes: 64 << 10,
		LogLevel:     "debug",
		LogPayloads:  true,
	}
	got, err := Parse("f.yaml", []byte(everyKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyFileIsTheDefault(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "{}\n", "\ufeff", "--- # x\n...\n"} {
		got, err := Parse("f.yaml", []byte(text), nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if diff := cmp.Diff(Default(), got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestAfterFromAFlagReachesWhatInherits(t *testing.T) {
	text := "task: never\ntools:\n  a: {ttl: 1h}\n  b: {task: always}\n  c: {task: after}\n  d: {task: after, after: 9s}\n"
	after := 3 * time.Second
	got, err := Parse("f.yaml", []byte(text), &Options{After: &after})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "after 3s", "b": "always", "c": "after 3s", "d": "after 9s"}
	for _, tool := range got.Tools {
		if has := "task " + want[tool.Pattern] + ","; !strings.HasPrefix(tool.Policy.String(), has) {
			t.Errorf("%s: %v, want %s", tool.Pattern, tool.Policy, has)
		}
	}
	if p := got.Policy; p.Task != After || p.After != after {
		t.Errorf("default: %v", p)
	}
}

func TestRelativeStateDirStartsFromTheFile(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	t.Setenv("USERPROFILE", "/home/u")
	for in, want := range map[string]string{
		"state": "/etc/proxy/state", "../x": "/etc/x", "/abs": "/abs", `"~"`: "/home/u", "~/s": "/home/u/s",
	} {
		got, err := Parse("/etc/proxy/f.yaml", []byte("state_dir: "+in), nil)
		if err != nil || got.StateDir != filepath.FromSlash(want) {
			t.Errorf("%s: %q, %v; want %q", in, got.StateDir, err, want)
		}
	}
}

func TestSampleConfigurationsLoad(t *testing.T) {
	files, _ := filepath.Glob("../examples/config/*.yaml")
	if len(files) < 6 {
		t.Fatalf("samples found: %v, want six or more", files)
	}
	for _, f := range files {
		c, err := Load(f, nil)
		if err != nil || c.Check() != nil || c.Warnings() != nil {
			t.Errorf("%s: %v, %v, %q", f, err, c.Check(), c.Warnings())
		}
	}
}

func TestUnreadableFileSaysSoOnOneLine(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "none.yaml"), t.TempDir()} {
		_, err := Load(path, nil)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "; write ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestTooLongFileIsNotParsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(path, []byte(strings.Repeat("# 0123456\n", 1<<20/10+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, nil)
	if want := path + ":1:1: the file is longer than 1 MiB; shorten it"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
