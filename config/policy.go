package config

import (
	"fmt"
	"time"
)

// settings is what one mapping of the file says about a policy; nil is not
// said.
type settings struct {
	task                                    *Mode
	after, ttl, pollInterval, maxRun, stall *time.Duration
	input                                   *Input
	inputTimeout                            *time.Duration
	approve                                 *Approve
	fallbackAfter, keepAlive                *time.Duration
	upstreamTasks                           *UpstreamTasks
	concurrency                             *int
	afterAt                                 place
}

var policyKeys = []string{"task", "after", "ttl", "poll_interval", "max_run", "stall", "input", "input_timeout", "approve", "fallback_after", "keep_alive", "upstream_tasks", "concurrency"}

func (r *reader) policyFields(s *settings) fields {
	after := r.duration("after", &s.after)
	return fields{
		"task":           text(r, &s.task, "never, after, always or required", pointer(oneOf("mode", Never, After, Always, Required))),
		"after":          func(v value) { s.afterAt = v.at; after(v) },
		"ttl":            r.duration("ttl", &s.ttl),
		"poll_interval":  r.duration("poll_interval", &s.pollInterval),
		"max_run":        r.duration("max_run", &s.maxRun),
		"stall":          r.duration("stall", &s.stall),
		"input":          text(r, &s.input, "in-task or before-task", pointer(oneOf("value", InTask, BeforeTask))),
		"input_timeout":  r.duration("input_timeout", &s.inputTimeout),
		"approve":        text(r, &s.approve, "true, false or destructive", pointer(oneOf("value", ApproveAlways, ApproveNever, ApproveDestructive))),
		"fallback_after": r.duration("fallback_after", &s.fallbackAfter),
		"keep_alive":     text(r, &s.keepAlive, "a duration such as 15s", pointer(parseKeepAlive)),
		"upstream_tasks": text(r, &s.upstreamTasks, "auto, off or passthrough", pointer(oneOf("value", TasksAuto, TasksOff, TasksPassthrough))),
		"concurrency":    r.optionalCount("concurrency", &s.concurrency),
	}
}

func (r *reader) duration(key string, dst **time.Duration) func(value) {
	parse := func(s string) (time.Duration, error) { return ParseDuration(key, s) }
	return text(r, dst, "a duration such as "+spans[key].example, pointer(parse))
}

// parseKeepAlive spares hosts a flood.
func parseKeepAlive(s string) (time.Duration, error) {
	d, err := ParseDuration("keep_alive", s)
	if err == nil && d > 0 && d < time.Second {
		err = fmt.Errorf("%s is too short; write 1s or more, such as 15s, or 0s for off", quoted(s))
	}
	return d, err
}

func pointer[T any](parse func(string) (T, error)) func(string) (*T, error) {
	return func(s string) (*T, error) {
		v, err := parse(s)
		return &v, err
	}
}

// over fills in from p what s does not say.
func (s settings) over(p Policy) Policy {
	set(&p.Task, s.task)
	set(&p.After, s.after)
	set(&p.TTL, s.ttl)
	set(&p.PollInterval, s.pollInterval)
	set(&p.MaxRun, s.maxRun)
	set(&p.Stall, s.stall)
	set(&p.Input, s.input)
	set(&p.InputTimeout, s.inputTimeout)
	set(&p.Approve, s.approve)
	set(&p.FallbackAfter, s.fallbackAfter)
	set(&p.KeepAlive, s.keepAlive)
	set(&p.UpstreamTasks, s.upstreamTasks)
	set(&p.Concurrency, s.concurrency)
	return p
}

func set[T any](dst, v *T) {
	if v != nil {
		*dst = *v
	}
}

// waits tells whether a call waits for p.After: with [BeforeTask] the modes that
// make a task at once leave the server that long to ask.
func (p Policy) waits() bool {
	return p.Task == After || p.Input == BeforeTask && p.Task != Never
}

// checkAfter refuses an after that nothing reads. At the top of the file it
// may stand beside another mode as long as some tool inherits it.
func (r *reader) checkAfter(doc *document) {
	top := doc.top.over(doc.Policy)
	read := top.waits()
	for _, t := range doc.tools {
		p := t.over(top)
		if p.waits() && t.after == nil {
			read = true
		}
		if !p.waits() && t.after != nil {
			r.unreadAfter(t.afterAt, "tools."+element(t.pattern)+".after", p.Task)
		}
	}
	if !read && doc.top.after != nil {
		r.unreadAfter(doc.top.afterAt, "after", top.Task)
	}
}

func (r *reader) unreadAfter(p place, path string, mode Mode) {
	r.mistake(p, "%s has no effect with task: %s; remove it, or write task: after", path, mode)
}

func (p Policy) concurrency() string {
	if p.Concurrency == 0 {
		return ""
	}
	return fmt.Sprintf(", concurrency %d", p.Concurrency)
}

// String is the policy in the words of the file, for people.
func (p Policy) String() string {
	off := func(d time.Duration) string {
		if d == 0 {
			return "off"
		}
		return short(d)
	}
	task := string(p.Task)
	if p.Task == After {
		task += " " + short(p.After)
	} else if p.waits() {
		task += ", after " + short(p.After)
	}
	return fmt.Sprintf("task %s, ttl %s, poll_interval %s, max_run %s, stall %s, input_timeout %s, input %s, approve %s, fallback_after %s, keep_alive %s, upstream_tasks %s%s",
		task, short(p.TTL), short(p.PollInterval), off(p.MaxRun), off(p.Stall), short(p.InputTimeout), p.Input, p.Approve,
		off(p.FallbackAfter), off(p.KeepAlive), p.UpstreamTasks, p.concurrency())
}
