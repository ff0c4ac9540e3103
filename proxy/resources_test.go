package proxy

import (
	"strings"
	"sync"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// heard has the server write down the methods that it does not know.
func (r *rig) heard() func() []string {
	var mu sync.Mutex
	var methods []string
	r.keeps = func(m wire.Message) string {
		mu.Lock()
		defer mu.Unlock()
		methods = append(methods, m.Method())
		return ""
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return methods
	}
}

// about sends a request about resources; told says that the host was told of them.
func (r *rig) about(method, params string, told bool) wire.Message {
	r.t.Helper()
	return r.calls("{}", func(req *Request) {
		req.Message, req.Resources = wire.Request(1, method, []byte(params)), told
	}).next().message
}

// gistOf is the result of an answer, or the code of its error.
func gistOf(m wire.Message) string { return string(m.Result()) + string(wire.Get(m.Err(), "code")) }

func TestAServerWithoutResourcesIsNotAskedForThem(t *testing.T) {
	for _, era := range []upstream.Era{upstream.Initialize, upstream.Stateless} {
		bubble(t, func(t *testing.T, store *disk) {
			r := newRig(t, store, era, Policy{Task: Always})
			heard := r.heard()
			if got := gistOf(r.about("resources/list", "{}", true)); got != `{"resources":[]}` {
				t.Errorf("before the server was greeted the list is %s", got)
			}
			first := len(heard())
			for _, test := range []struct{ method, params, want string }{
				{"resources/list", `{"cursor":"x"}`, `{"resources":[]}`}, {"resources/templates/list", `{}`, `{"resourceTemplates":[]}`},
				{"resources/read", `{"uri":"file:///x"}`, "-32002"}, {"resources/read", `{"uri":7}`, "-32602"}, {"resources/read", `{}`, "-32602"},
				{"resources/read", `{"uri":"mcp-taskproxy://results/none/0"}`, "-32002"},
			} {
				if got := gistOf(r.about(test.method, test.params, true)); got != test.want {
					t.Errorf("%s %s: %s, want %s", test.method, test.params, got, test.want)
				}
			}
			if n := len(heard()); first > 1 || n != first {
				t.Errorf("the server was asked for %s", strings.Join(heard(), ", "))
			}
		})
	}
}

func TestAHostThatWasNotToldOfResourcesIsTheServersAffair(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{Task: Always})
		heard := r.heard()
		for range 2 {
			if got := gistOf(r.about("resources/list", "{}", false)); got != "-32601" {
				t.Errorf("the list is %s", got)
			}
		}
		if n := len(heard()); n != 2 {
			t.Errorf("the server was asked %d times", n)
		}
	})
}

func TestAServerThatHasResourcesIsAskedForThem(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, Policy{Task: Always})
		r.capabilities = `"resources":{},`
		heard := r.heard()
		for range 2 {
			if got := gistOf(r.about("resources/templates/list", "{}", true)); got != "-32601" {
				t.Errorf("the list is %s", got)
			}
		}
		if n := len(heard()); n != 2 {
			t.Errorf("the server was asked %d times", n)
		}
	})
}

func TestResourcesAreOnlyOfferedWhereAResultCanBeOne(t *testing.T) {
	spills := Limits{ResultBytes: most, LargeResults: Spill}
	bubble(t, func(t *testing.T, store *disk) {
		for name, test := range map[string]struct {
			policies Policies
			limits   Limits
			want     bool
		}{
			"spill":          {Policies{Default: Policy{Task: After}}, spills, true},
			"one tool":       {Policies{Default: Policy{Task: Never}, Tools: []ToolPolicy{{"x", Policy{Task: Always}}}}, spills, true},
			"all tools pass": {Policies{Default: Policy{Task: Never}, Tools: []ToolPolicy{{"x", Policy{Task: Never}}}}, spills, false},
			"truncate":       {Policies{Default: Policy{Task: After}}, Limits{ResultBytes: most, LargeResults: Truncate}, false},
			"no limit":       {Policies{Default: Policy{Task: After}}, Limits{LargeResults: Spill}, false},
		} {
			r := newRig(t, store, upstream.Stateless, Policy{})
			r.proxy.opts.Policies, r.proxy.opts.Limits = test.policies, test.limits
			if got := r.proxy.Spills(); got != test.want {
				t.Errorf("%s: %v", name, got)
			}
		}
	})
}
