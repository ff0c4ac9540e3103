package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// Credentials and arguments go to the configured server and to no other,
// whatever that one says (2026-07-28, Security Best Practices).
func TestRedirectToAnotherServer(t *testing.T) {
	t.Parallel()
	everyPair(t, ways, func(t *testing.T, start func(testing.TB, map[string]act) *scripted, y way) {
		other := startModern(t, nil)
		var all []fault
		for _, status := range []int{301, 302, 303, 307, 308} {
			outcome := "not_dispatched"
			if status == http.StatusSeeOther { // what a server says that has done what it was asked
				outcome = "unknown"
			}
			all = append(all, fault{http.StatusText(status), redirecting(status, other.URL+"/mcp?x=1"), "upstream_redirected", outcome, []string{other.URL}})
		}
		s := start(t, actsOf(all))
		p := proxyTo(t, s)
		p.Flags = []string{"--header", "Authorization: Bearer for-this-server-only"}
		h := y.start(t, p)
		for _, f := range all {
			f.check(t, h.ask(y.call(h.freshID(), f.name, `{}`)).Error)
			s.want(t, "tools/call "+f.name, 1)
		}
		other.want(t, "", 0)
	})
}

func redirecting(status int, location string) act {
	return func(w http.ResponseWriter, v visit) { http.Redirect(w, v.Request, location, status) }
}

// A greeting that is redirected ends there, and so does the call that waited.
func TestGreetingIsRedirectedToAnotherServer(t *testing.T) {
	t.Parallel()
	other := startModern(t, nil)
	s := startModern(t, map[string]act{"POST": redirecting(307, other.URL+"/mcp"), "server/discover": nil, "tools/call": nil, "tools/list": nil})
	h := proxyTo(t, s).start(t)
	f := fault{"run", nil, "upstream_redirected", "not_dispatched", []string{other.URL}}
	f.check(t, h.ask(plain.toolCall("1", "run", `{}`)).Error)
	other.want(t, "", 0)
	s.want(t, "tools/call", 0)
}

// Within the server a redirect that keeps the request is followed, headers and
// body included; a call goes where others were led, and is not sent twice.
func TestRedirectWithinTheServer(t *testing.T) {
	t.Parallel()
	const tools = `{"resultType":"complete","tools":[{"name":"moved","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
	everyPair(t, statelessWays, func(t *testing.T, start func(testing.TB, map[string]act) *scripted, y way) {
		s := start(t, map[string]act{"tools/call moved": answering(doneResult), "tools/list": func(w http.ResponseWriter, v visit) {
			if v.URL.Path == "/mcp" {
				redirecting(308, "/mcp/")(w, v)
				return
			}
			answering(tools)(w, v)
		}})
		p := proxyTo(t, s)
		p.Flags = []string{"--header", "X-Key: for-this-server-only"}
		h := y.start(t, p)
		if m := h.ask(y.request("1", "tools/list")); m.Error != nil {
			t.Errorf("the list failed: %s", m.Raw)
		}
		if m := h.ask(y.call("2", "moved", `{"x":1.0}`)); m.Error != nil {
			t.Errorf("the call failed: %s", m.Raw)
		}
		v := s.want(t, "tools/call moved", 1)[0]
		if v.URL.Path != "/mcp/" || v.header("X-Key") != "for-this-server-only" || !strings.Contains(v.Raw, `"arguments":{"x":1.0}`) {
			t.Errorf("%s got %v, %s", v.URL.Path, v.Header, v.Raw)
		}
	})
}
