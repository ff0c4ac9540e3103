package proxy

import (
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

func TestAnApprovalIsAskedForByTheCallItself(t *testing.T) {
	for name, responses := range map[string]string{
		"accept": accepts("approval-1"), "decline": `{"approval-1":{"action":"decline"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, confirmed)
				requests, state := r.calls(deploy, nil).asked()
				wantKeys(t, requests, "approval-1")
				retry := r.calls(again(deploy, state, responses), nil)
				if name == "decline" {
					wantUnapproved(t, retry.result())
				} else {
					p := r.server.next()
					p.wantParam("inputResponses", "")
					p.wantParam("requestState", "")
					p.ends(done)
					retry.result()
				}
				r.server.idle(time.Second)
				r.wantIdle()
			})
		})
	}
}

// A person may take longer than the credentials last that the call came with.
func TestAConfirmedCallGoesWithTheHeadersOfItsNewestRequest(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Initialize, confirmed)
		with := func(token string) func(*Request) {
			return func(req *Request) { req.Header = map[string][]string{"Authorization": {token}} }
		}
		_, state := r.calls(deploy, with("old")).asked()
		retry := r.calls(again(deploy, state, accepts("approval-1")), with("new"))
		p := r.server.next()
		if got := p.header.Get("Authorization"); got != "new" {
			t.Errorf("the call went with the credentials %q", got)
		}
		p.ends(done)
		retry.result()
	})
}

func TestAnApprovalIsAskedForDirectly(t *testing.T) {
	for name, c := range map[string]struct {
		response wire.Message
		sent     bool
	}{
		"accept":  {wire.Result(noID, []byte(`{"action":"accept","content":{}}`)), true},
		"decline": {wire.Result(noID, []byte(`{"action":"decline"}`)), false},
		"error":   {wire.Failure(noID, wire.Errorf(wire.CodeInternal, "no dialog")), false},
		"scalar":  {wire.Result(noID, []byte(`"yes"`)), false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, confirmed)
				asked := 0
				call := r.calls(deploy, func(req *Request) {
					req.Ask = func(m wire.Message, answer func(wire.Message)) func() {
						asked++
						answer(c.response)
						answer(c.response)
						return func() {}
					}
				})
				if c.sent {
					r.server.next().ends(done)
					call.result()
				} else {
					wantUnapproved(t, call.result())
				}
				r.server.idle(time.Second)
				r.wantIdle()
				if asked != 1 {
					t.Errorf("the host was asked %d times", asked)
				}
			})
		})
	}
}
