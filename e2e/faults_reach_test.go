package e2e

import (
	"net"
	"net/url"
	"strings"
	"testing"
)

// What nobody listens on was not sent; as soon as a server is there, calls are.
func TestServerComesUpAfterTheFirstCall(t *testing.T) {
	t.Parallel()
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			closed := freeAddress(t)
			p := proxyAt(t, "http://"+closed+"/mcp")
			f := fault{"run", nil, "upstream_unreachable", "not_dispatched", []string{closed, "connection refused"}}
			h := y.plug(t, p)
			if y.initialize {
				f.check(t, h.ask(openRequest).Error)
			} else {
				f.check(t, h.ask(y.call("1", "run", `{}`)).Error)
				f.check(t, at(finishTask(h, taskOf(t, h.ask(declared.toolCall("2", taskPrefix+"run", `{}`))), "failed").Result, "error"))
			}
			s := startLegacyAt(t, closed, nil)
			if y.initialize {
				h.initialize("2025-11-25")
			}
			if m := h.ask(y.call("3", "run", `{}`)); m.Error != nil {
				t.Errorf("the server is there, and the call failed: %s", m.Raw)
			}
			s.want(t, "tools/call run", 1)
		})
	}
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// noProxy keeps requests to names that do not exist from going elsewhere.
var noProxy = []string{"HTTP_PROXY=", "HTTPS_PROXY=", "ALL_PROXY=", "http_proxy=", "https_proxy=", "all_proxy="}

// The name is one that cannot exist (RFC 6761, section 6.4).
func TestServerWhoseNameIsUnknown(t *testing.T) {
	t.Parallel()
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			p := proxyAt(t, "http://no-such-server.invalid/mcp")
			p.Host.Env = noProxy
			h := y.plug(t, p)
			ask := y.call("1", "run", `{}`)
			if y.initialize {
				ask = openRequest
			}
			f := fault{"run", nil, "upstream_unreachable", "not_dispatched", []string{"no-such-server.invalid"}}
			f.check(t, h.ask(ask).Error)
		})
	}
}

// What is secret in the URL is in no error.
func TestErrorsDoNotQuoteTheQueryOfTheURL(t *testing.T) {
	t.Parallel()
	h := proxyAt(t, "http://"+freeAddress(t)+"/mcp?"+url.Values{"key": {"sk-SECRET"}}.Encode()).start(t)
	if m := h.ask(plain.toolCall("1", "run", `{}`)); m.Error == nil || strings.Contains(m.Raw+h.stderr(), "SECRET") {
		t.Errorf("%s\n%s", m.Raw, h.stderr())
	}
}
