package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// A task is its owner's: to others its id does not exist, and their cancel has
// no effect. Two tokens of one name are one owner.
func TestTaskOfAnotherOwner(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	withTokens(t, p)
	l := p.listen(t)
	alice, second := l.joinAs(bearer(aliceToken)), l.joinAs(bearer(aliceSecond))
	id := taskOf(t, alice.ask(declared.toolCall("1", "gate", `{"gate":"a"}`)))
	alice.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	l.checkForeign(t, id, bearer(bobToken))
	if m := second.ask(taskRequests(id)["tasks/get"]); m.text("status") != "working" {
		t.Errorf("with her other token she sees %s", m.Raw)
	}
	second.ask(plain.toolCall("2", "release", `{"gate":"a"}`))
	finishTask(alice, id, "completed")
	l.checkForeign(t, id, bearer(bobToken))
	if n := seen.count("cancelled gate"); n != 0 {
		t.Error("a stranger has cancelled the call")
	}
}

// After a restart, by kill -9, tasks are still those of the same name.
func TestOwnersOutliveTheProxy(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	withTokens(t, p)
	l := p.listen(t)
	alice := l.joinAs(bearer(aliceToken))
	id := taskOf(t, alice.ask(declared.toolCall("1", "release", `{}`)))
	before := string(at(finishTask(alice, id, "completed").Result, "result"))
	l.kill()
	l = p.listen(t)
	if after := string(at(finishTask(l.joinAs(bearer(aliceSecond)), id, "completed").Result, "result")); before != after {
		t.Errorf("before the restart %s\nafter it %s", before, after)
	}
	l.checkForeign(t, id, bearer(bobToken))
}

// A session is its owner's, too, and is none the worse for the attempts of
// others.
func TestSessionOfAnotherOwner(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	withTokens(t, p)
	l := p.listen(t)
	opened := l.do(t, rawRequest{Body: openRequest}.as(bearer(aliceToken)))
	session := opened.Header.Get("Mcp-Session-Id")
	foreign, unknown := inSession(session), inSession(strings.Repeat("A", len(session)))
	for _, r := range []rawRequest{
		{Body: toolCall("1", "release", `{}`)},
		{Body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
		{Body: `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{Method: "GET", Header: http.Header{"Accept": {"text/event-stream"}}},
		{Method: "DELETE"},
	} {
		a, b := l.do(t, r.as(foreign).as(bearer(bobToken))), l.do(t, r.as(unknown).as(bearer(bobToken)))
		if a.Status != http.StatusNotFound || a.Status != b.Status || a.Body != b.Body {
			t.Errorf("%s %s: a foreign session answers %d %s, an unknown one %d %s", r.Method, r.Body, a.Status, a.Body, b.Status, b.Body)
		}
	}
	if a := l.do(t, rawRequest{Body: toolCall("2", "release", `{}`)}.as(inSession(session)).as(bearer(aliceSecond))); a.Status != 200 || a.Error != nil {
		t.Errorf("her session does not go on: %d %s", a.Status, a.Body)
	}
	if n := seen.count("call release"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// refusedTokens are requests that name no owner.
var refusedTokens = []struct {
	name, path string
	header     http.Header
	code       string // of the challenge
}{
	{"no token", "", nil, ""},
	{"a wrong token", "", bearer("tok-nobody-000000"), "invalid_token"},
	{"a hash for a token", "", bearer(strings.Repeat("ab", 32)), "invalid_token"},
	{"a name for a token", "", bearer("alice"), "invalid_token"},
	{"a token of another case", "", bearer(strings.ToUpper(aliceToken)), "invalid_token"},
	{"another scheme", "", http.Header{"Authorization": {"Basic " + aliceToken}}, ""},
	{"an empty token", "", http.Header{"Authorization": {"Bearer "}}, "invalid_token"},
	{"two tokens in one", "", bearer(aliceToken + " " + bobToken), "invalid_token"},
	{"a token in the query", "/mcp?access_token=" + aliceToken, nil, ""},
	{"a token in another header", "", http.Header{"X-Authorization": {"Bearer " + aliceToken}}, ""},
}

// Whoever shows no good token is told so, in the form that clients read, in
// either era and for every method; and the server hears nothing of it.
func TestWithoutAGoodToken(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	withTokens(t, p)
	l := p.listen(t)
	for _, c := range refusedTokens {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []rawRequest{
				{Body: plain.toolCall("1", "release", `{}`)}, {Body: openRequest}, {Body: "no JSON"},
				{Body: toolCall("1", "release", `{}`), Header: inSession("A")},
				{Method: "GET", Header: http.Header{"Accept": {"text/event-stream"}}}, {Method: "DELETE"},
			} {
				r.Path = c.path
				l.do(t, r.as(c.header)).challenged(t, c.code)
			}
		})
	}
	l.do(t, rawRequest{Body: openRequest, Header: http.Header{"Authorization": {"Bearer " + aliceToken, "Bearer " + bobToken}}}).refusedWith(t, 400, 0)
	if lines := strings.Join(seen.received(), ""); lines != "" {
		t.Errorf("the server got %s", lines)
	}
}

// The file is replaced while the proxy runs: a new token is good, one that is
// not there any more is refused, and tasks stay with the name. A file that
// cannot be read changes nothing.
func TestTokensAreReplaced(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	file := withTokens(t, p)
	l := p.listen(t)
	alice := l.joinAs(bearer(aliceToken))
	id := taskOf(t, alice.ask(declared.toolCall("1", "release", `{}`)))
	finishTask(alice, id, "completed")
	const newToken = "tok-alice-new-9c8d7e"
	get := rawRequest{Body: taskRequests(id)["tasks/get"]}
	replaceTokens(t, file, "bob", bobToken, "alice", newToken)
	l.until(t, "the new token to be good", get.as(bearer(newToken)), isOK)
	l.do(t, get.as(bearer(aliceToken))).challenged(t, "invalid_token")
	l.do(t, get.as(bearer(aliceSecond))).challenged(t, "invalid_token")
	l.checkForeign(t, id, bearer(bobToken))
	replaceTokens(t, file)
	l.until(t, "the log to name the bad file", get.as(bearer(newToken)), func(a rawAnswer) bool {
		return isOK(a) && strings.Contains(l.stderr(), "the tokens file cannot be used")
	})
	finishTask(l.joinAs(bearer(newToken)), id, "completed")
}
