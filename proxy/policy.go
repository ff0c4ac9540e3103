package proxy

import (
	"path"
	"slices"
	"strings"
	"time"
)

// Mode says when a tools/call becomes a task.
type Mode string

// The modes; see the package comment.
const (
	Never    Mode = "never"
	After    Mode = "after"
	Always   Mode = "always"
	Required Mode = "required"
)

// Input says where the questions go that a server asks in a call that may be a
// task.
type Input string

// InTask makes the call a task at once, and asks through it; BeforeTask asks by
// the call itself as long as it is none (Tasks extension, Task Creation).
const (
	InTask     Input = "in-task"
	BeforeTask Input = "before-task"
)

// Approve says which calls a person has to confirm before they are sent.
type Approve string

// The values of Approve; an empty one is ApproveNever. ApproveDestructive goes by
// the tool's annotations, in which a tool that says nothing is destructive
// (revision 2026-07-28, Schema, ToolAnnotations).
const (
	ApproveNever       Approve = "false"
	ApproveAlways      Approve = "true"
	ApproveDestructive Approve = "destructive"
)

// Policy is how the calls of a tool are treated.
type Policy struct {
	Task Mode
	// After is how long a call is waited for before it becomes a task. With
	// BeforeTask the other modes wait as long for a question.
	After time.Duration
	// Input is InTask if empty.
	Input Input
	// InputTimeout is how long a question waits for its answer; 0 is 1 h.
	InputTimeout time.Duration
	Approve      Approve
	// FallbackAfter is how long a call of a host without tasks is waited for
	// before the host gets a ticket in the place of the answer; 0 waits for it
	// however long it takes.
	FallbackAfter time.Duration
	// KeepAlive is after how much silence of the server a host that waits for its
	// answer, and asked for progress, hears that the call is still at work; 0
	// leaves that to the server.
	KeepAlive time.Duration
	// Concurrency is how many calls of the tool may be at work at a time; 0 is no
	// limit.
	Concurrency int
	// NoUpstreamTasks has the server make no tasks of its own.
	NoUpstreamTasks bool
	// TTL is how long a finished task is kept.
	TTL time.Duration
	// PollInterval is what hosts are asked to leave between two tasks/get.
	PollInterval time.Duration
	// MaxRun ends a task that has run that long; 0 never does.
	MaxRun time.Duration
	// Stall ends a task whose server has shown no sign of life that long; 0
	// never does.
	Stall time.Duration
}

// gated says that calls may have to be confirmed.
func (p Policy) gated() bool { return p.Approve != "" && p.Approve != ApproveNever }

// FallsBack reports whether hosts without tasks get tickets for any tool.
func (p *Proxy) FallsBack() bool {
	all := p.opts.Policies
	return all.Default.GivesTickets() || slices.ContainsFunc(all.Tools, func(t ToolPolicy) bool { return t.Policy.GivesTickets() })
}

// GivesTickets reports whether hosts without tasks get them for slow calls.
func (p Policy) GivesTickets() bool { return p.FallbackAfter > 0 && p.Task != Never }

// fallsBack says that a host without tasks gets a ticket if the call takes long.
func (p Policy) fallsBack(req *Request) bool {
	return req.Fallback && !req.Tasks && p.GivesTickets()
}

func (p Policy) inputTimeout() time.Duration {
	if p.InputTimeout <= 0 {
		return time.Hour
	}
	return p.InputTimeout
}

// Policies are the policies of all tools.
type Policies struct {
	Default Policy
	Tools   []ToolPolicy
}

// ToolPolicy is the policy of the tools that Pattern names: a tool's name, or
// a glob in which * stands for any characters, ? for one and [a-z] for one of
// a set.
type ToolPolicy struct {
	Pattern string
	Policy  Policy
}

// For returns the policy of a tool: that of its exact name, else that of the
// most specific glob that matches (the one with the most characters that are
// no wildcard; of equals the first), else the default.
func (p Policies) For(tool string) Policy {
	best, found := -1, p.Default
	for _, t := range p.Tools {
		if t.Pattern == tool {
			return t.Policy
		}
		if n := specificity(t.Pattern); n > best && matches(t.Pattern, tool) {
			best, found = n, t.Policy
		}
	}
	return found
}

// matches lets * cross slashes, which mean nothing in the name of a tool.
func matches(pattern, tool string) bool {
	flat := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(flat.Replace(pattern), flat.Replace(tool))
	return ok && err == nil
}

func specificity(pattern string) int {
	n := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*', '?':
		case '[':
			for i < len(pattern) && pattern[i] != ']' {
				i++
			}
		default:
			n++
		}
	}
	return n
}
