package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// forwarding has the proxy pass on the credential of each host, and one more
// header, and send two of its own.
func forwarding(t testing.TB, s *scripted) *proxied {
	t.Helper()
	p := proxyTo(t, s)
	p.Config += "forward_headers: [X-Tenant, X-Trace]\nforward_authorization: true\nheaders: {X-Static: static-value, X-Both: ours}\n"
	return p
}

// sender is a host with a credential and headers of its own.
func sender(name string) http.Header {
	return http.Header{
		"Authorization": {"Bearer cred-of-" + name}, "X-Tenant": {"tenant-of-" + name},
		"X-Not-Named": {"secret"}, "Cookie": {"session=secret"}, "Proxy-Authorization": {"Basic c2VjcmV0"},
		"Te": {"trailers"}, "Keep-Alive": {"timeout=5"}, "Upgrade": {"websocket"}, "Expect": nil,
		"X-Trace": {"trace-of-" + name}, "Connection": {"keep-alive, X-Trace"}, "X-Static": {"theirs"}, "X-Forwarded-For": {"10.0.0.1"},
	}
}

var neverForwarded = []string{
	"X-Not-Named", "Cookie", "Proxy-Authorization", "Te", "Keep-Alive", "Upgrade", "Connection", "Proxy-Connection",
	"Trailer", "Transfer-Encoding", "X-Forwarded-For", "Origin",
	"X-Trace", // which Connection names: RFC 9110, section 7.6.1
}

// What a host sends goes on with its own requests, and with those alone that
// the proxy makes for its session; what the configuration sends goes with all;
// what belongs to one connection goes nowhere.
func TestForwardedHeaders(t *testing.T) {
	t.Parallel()
	for era, start := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			s := start(t, nil)
			l := forwarding(t, s).listen(t)
			for _, y := range ways[2:] {
				for _, name := range []string{"alice", "bob", "carol"} {
					h := l.joinAs(sender(name))
					if y.initialize {
						h.initialize("2025-11-25")
					}
					h.ask(y.call(h.freshID(), "run", `{"of":"`+name+`"}`))
					h.ask(y.request(h.freshID(), "tools/list"))
					if !y.initialize {
						finishTask(h, taskOf(t, h.ask(declared.toolCall(h.freshID(), taskPrefix+"run", `{"of":"`+name+`"}`))), "completed")
					}
				}
			}
			l.join().stop() // the ends of sessions are requests, too
			s.want(t, "tools/call", 9)
			checkForwarded(t, s)
		})
	}
}

// checkForwarded goes by the session, and in a call by what its arguments say.
func checkForwarded(t *testing.T, s *scripted) {
	t.Helper()
	of := map[string]string{}
	for _, v := range s.visits("") {
		what := fmt.Sprintf("%s %s", v.Request.Method, v.message.Method)
		name, _ := strings.CutPrefix(v.header("Authorization"), "Bearer cred-of-")
		if name == "" || v.header("X-Tenant") != "tenant-of-"+name {
			t.Errorf("%s has Authorization %q and X-Tenant %q", what, v.header("Authorization"), v.header("X-Tenant"))
		}
		if session := v.header("Mcp-Session-Id"); session != "" && of[session] != "" && of[session] != name {
			t.Errorf("%s in the session of %s has the credential of %s", what, of[session], name)
		} else if session != "" {
			of[session] = name
		}
		if v.message.Method == "tools/call" && string(at(v.Params, "arguments", "of")) != `"`+name+`"` {
			t.Errorf("a call has the credential of %s: %s", name, v.Raw)
		}
		if got := v.Header.Values("X-Static"); len(got) != 1 || got[0] != "static-value" || v.header("X-Both") != "ours" {
			t.Errorf("%s has X-Static %q, X-Both %q", what, got, v.header("X-Both"))
		}
		for _, header := range neverForwarded {
			if v.header(header) != "" {
				t.Errorf("%s has %s: %s", what, header, v.header(header))
			}
		}
	}
}

// Without tokens or an issuer of the proxy's own, each credential is an owner,
// as the server sees it; so are those who have none. The same one finds its
// tasks after a restart.
func TestForwardedCredentialsAreOwners(t *testing.T) {
	t.Parallel()
	s := startLegacy(t, nil)
	p := forwarding(t, s)
	l := p.listen(t)
	alice := l.joinAs(sender("alice"))
	id := taskOf(t, alice.ask(declared.toolCall("1", taskPrefix+"run", `{}`)))
	finishTask(alice, id, "completed")
	nobody := http.Header{}
	for _, stranger := range []http.Header{sender("bob"), nobody, bearer("cred-of-alic"), {"Authorization": {"bearer cred-of-alice"}}} {
		l.checkForeign(t, id, stranger)
	}
	own := taskOf(t, l.join().ask(declared.toolCall("1", taskPrefix+"run", `{}`)))
	finishTask(l.join(), own, "completed")
	l.checkForeign(t, own, sender("alice"))
	l.kill()
	l = p.listen(t)
	finishTask(l.joinAs(sender("alice")), id, "completed")
	l.checkForeign(t, id, sender("bob"))
	l.checkForeign(t, id, nobody)
	finishTask(l.join(), own, "completed")
}

// A task that was stored and not yet sent when the proxy was killed is not sent
// by the next process, which has nobody's credential: nothing of one was stored.
func TestTaskOfAKilledProxyDoesNotRunWithoutItsCredential(t *testing.T) {
	t.Parallel()
	s := startLegacy(t, map[string]act{"server/discover": hanging, "initialize": hanging})
	p := forwarding(t, s)
	l := p.listen(t)
	alice := l.joinAs(sender("alice"))
	id := taskOf(t, alice.ask(declared.toolCall("1", taskPrefix+"run", `{"of":"alice"}`)))
	l.kill()
	checkNotAtRest(t, p.StateDir, [][]byte{[]byte("cred-of-alice"), []byte("tenant-of-alice"), []byte("static-value")})
	s.on("server/discover", refusing(http.StatusBadRequest, -32000, "Bad Request: Server not initialized"))
	s.on("initialize", s.openSession)
	l = p.listen(t)
	m := finishTask(l.joinAs(sender("alice")), id, "failed")
	if why, outcome := reason(at(m.Result, "error")); why != "proxy_restarted" || outcome != "not_dispatched" {
		t.Errorf("the task ended with %s", m.Raw)
	}
	s.want(t, "tools/call", 0)
}
