package proxy

import (
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// A session may end while its calls are anywhere on their way.
func TestWhatIsTakenBackSaysWhetherItWasSent(t *testing.T) {
	asks := func(r *Request) {
		r.Ask = func(wire.Message, func(wire.Message)) func() { return func() {} }
	}
	for name, test := range map[string]struct {
		policy Policy
		change func(*Request)
		before func(r *rig)
		want   upstream.Outcome
	}{
		"at work":              {Policy{}, nil, nil, upstream.Unknown},
		"waits for its turn":   {Policy{Task: Never, Concurrency: 1}, nil, func(r *rig) { r.calls(deploy, nil); r.next() }, upstream.NotDispatched},
		"is yet to be allowed": {confirmed, asks, nil, upstream.NotDispatched},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, test.policy)
				if test.before != nil {
					test.before(r)
				}
				c := r.calls(deploy, test.change)
				settle()
				var got []upstream.Outcome
				c.takeBack(func(work upstream.Outcome) { got = append(got, work) })
				settle()
				if len(got) != 1 || got[0] != test.want {
					t.Errorf("it was taken back as %q, want %q", got, test.want)
				}
				c.wantNone()
			})
		})
	}
}
