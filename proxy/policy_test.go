package proxy

import "testing"

func TestPolicyOfATool(t *testing.T) {
	named := func(patterns ...string) (p Policies) {
		p.Default.Task = "default"
		for _, pattern := range patterns {
			p.Tools = append(p.Tools, ToolPolicy{pattern, Policy{Task: Mode(pattern)}})
		}
		return p
	}
	for _, c := range []struct {
		policies   Policies
		tool, want string
	}{
		{named(), "build", "default"},
		{named("lint"), "build", "default"},
		{named("*", "build"), "build", "build"},
		{named("b*", "build_*"), "build_all", "build_*"},
		{named("build_*", "b*"), "build_all", "build_*"},
		{named("*_all", "build*"), "build_all", "build*"},
		{named("build_[ab]*", "build_*"), "build_all", "build_[ab]*"},
		{named("build?", "build*"), "builds", "build?"},
		{named("*"), "dir/tool", "*"},
		{named("dir/*"), "dir/sub/tool", "dir/*"},
		{named("build*"), "rebuild", "default"},
		{named("*"), "", "*"},
	} {
		if got := c.policies.For(c.tool).Task; string(got) != c.want {
			t.Errorf("policy of %q: got that of %s, want that of %s", c.tool, got, c.want)
		}
	}
}
