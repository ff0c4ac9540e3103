package config

import "time"

// settings is what one mapping of the file says about a policy; nil is not
// said.
type settings struct {
	task                                    *Mode
	after, ttl, pollInterval, maxRun, stall *time.Duration
	afterAt                                 place
}

var policyKeys = []string{"task", "after", "ttl", "poll_interval", "max_run", "stall"}

func (r *reader) policyFields(s *settings) fields {
	after := r.duration("after", &s.after)
	return fields{
		"task":          text(r, &s.task, "never, after, always or required", pointer(oneOf("mode", Never, After, Always, Required))),
		"after":         func(v value) { s.afterAt = v.at; after(v) },
		"ttl":           r.duration("ttl", &s.ttl),
		"poll_interval": r.duration("poll_interval", &s.pollInterval),
		"max_run":       r.duration("max_run", &s.maxRun),
		"stall":         r.duration("stall", &s.stall),
	}
}

func (r *reader) duration(key string, dst **time.Duration) func(value) {
	parse := func(s string) (time.Duration, error) { return ParseDuration(key, s) }
	return text(r, dst, "a duration such as "+spans[key].example, pointer(parse))
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
	return p
}

func set[T any](dst, v *T) {
	if v != nil {
		*dst = *v
	}
}

// checkAfter refuses an after that nothing reads. At the top of the file it
// may stand beside another mode as long as some tool inherits it.
func (r *reader) checkAfter(doc *document) {
	top := doc.top.over(doc.Policy).Task
	read := top == After
	for _, t := range doc.tools {
		mode := t.over(Policy{Task: top}).Task
		if mode == After && t.after == nil {
			read = true
		}
		if mode != After && t.after != nil {
			r.unreadAfter(t.afterAt, "tools."+element(t.pattern)+".after", mode)
		}
	}
	if !read && doc.top.after != nil {
		r.unreadAfter(doc.top.afterAt, "after", top)
	}
}

func (r *reader) unreadAfter(p place, path string, mode Mode) {
	r.mistake(p, "%s has no effect with task: %s; remove it, or write task: after", path, mode)
}
