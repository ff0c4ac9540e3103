package proxy

import (
	"path"
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

// Policy is how the calls of a tool are treated.
type Policy struct {
	Task Mode
	// After is how long a call is waited for before it becomes a task.
	After time.Duration
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
