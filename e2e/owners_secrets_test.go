package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secretive is a proxy that has been told everything that must not come out,
// and what that is.
type secretive struct {
	*proxied
	server  *scripted
	owner   http.Header // good
	bad     []string    // tokens that are not
	secrets []string
	said    []string // logs and answers so far
}

// newSecretive keeps headers in all places where they may stand, and passes the
// owner's credential on to a server that quotes it.
func newSecretive(t *testing.T, auth string, token string, bad, more []string) *secretive {
	t.Helper()
	quote := func(status int) act {
		return func(w http.ResponseWriter, v visit) {
			http.Error(w, fmt.Sprint(v.header("Authorization"), "\n", v.Header), status)
		}
	}
	s := startLegacy(t, map[string]act{
		"tools/call quote_401": quote(401), "tools/call quote_500": quote(500), "tools/call quote_200": quote(200),
		"tools/call shut": hanging, "tools/call away": func(w http.ResponseWriter, v visit) {
			http.Redirect(w, v.Request, "http://other.invalid/?token="+v.header("X-Env"), http.StatusTemporaryRedirect)
		},
	})
	file := filepath.Join(t.TempDir(), "header")
	if err := os.WriteFile(file, []byte("sk-from-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := proxyTo(t, s)
	p.URL += "?key=sk-from-the-url"
	p.Host.Env = []string{"E2E_SECRET=sk-from-the-variable"}
	p.Flags = []string{"--log-level", "trace", "--log-payloads", "--header", "X-Flag: sk-from-the-flag"}
	p.Config += auth + "forward_authorization: true\n" +
		fmt.Sprintf("headers: {X-Env: {env: E2E_SECRET, prefix: \"Bearer \"}, X-File: {file: %q}, X-Text: sk-from-the-text}\n", file)
	return &secretive{proxied: p, server: s, owner: bearer(token), bad: bad, secrets: append(append(more, bad...), token,
		"sk-from-the-file", "sk-from-the-url", "sk-from-the-variable", "sk-from-the-flag", "sk-from-the-text")}
}

func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	i := startIssuer(t)
	good, foreign := i.token(nil), i.token(claims{"aud": "https://other.example"})
	signature := func(token string) string { return token[strings.LastIndex(token, ".")+1:] }
	for name, s := range map[string]*secretive{
		"tokens": newSecretive(t, fmt.Sprintf("auth: {tokens: %q}\n", tokensFile(t, "alice-by-name", aliceToken)), aliceToken,
			[]string{"tok-of-nobody-0f0f0f"}, []string{"alice-by-name"}),
		"issuer": newSecretive(t, i.auth(""), good, []string{foreign},
			[]string{"alice-subject", signature(good), strings.Split(good, ".")[1], signature(foreign)}),
		"the server's own": newSecretive(t, "", "cred-of-alice-5d5d", nil, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.live(t, func(l *listening) { l.kill() })
			s.live(t, func(l *listening) { l.join().stop() })
			s.check(t)
		})
	}
}

// live is one life of the proxy, with all that can go wrong in it.
func (s *secretive) live(t *testing.T, end func(*listening)) {
	t.Helper()
	l := s.listen(t)
	h, session := l.joinAs(s.owner), l.joinAs(s.owner)
	session.initialize("2025-11-25")
	for _, tool := range []string{"run", "quote_401", "quote_500", "quote_200", "away"} {
		session.ask(toolCall(session.freshID(), tool, `{}`))
		h.ask(plain.toolCall(h.freshID(), tool, `{}`))
		pollTask(h, taskOf(t, h.ask(declared.toolCall(h.freshID(), taskPrefix+tool, `{}`))), terminal)
	}
	taskOf(t, h.ask(declared.toolCall(h.freshID(), taskPrefix+"shut", `{}`)))
	for _, token := range append(s.bad, s.bad...) {
		a := l.do(t, rawRequest{Body: openRequest}.as(bearer(token)))
		b := l.do(t, rawRequest{Body: openRequest, Path: "/mcp?access_token=" + token})
		s.said = append(s.said, a.Body, b.Body, fmt.Sprint(a.Header, b.Header))
	}
	end(l)
	s.said = append(s.said, l.stderr(), h.heard(), session.heard())
	checkNotAtRest(t, s.StateDir, s.parts())
}

func (s *secretive) parts() (parts [][]byte) {
	for _, secret := range s.secrets {
		parts = append(parts, []byte(secret))
	}
	return parts
}

// heard is what has arrived so far.
func (h *host) heard() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.transcript, "\n")
}

// check looks at all that came out, once it is sure that the secrets were in use.
func (s *secretive) check(t *testing.T) {
	t.Helper()
	v := s.server.visits("tools/call run")[0]
	sent := fmt.Sprint(v.Header, v.URL)
	for _, from := range []string{"file", "url", "variable", "flag", "text"} {
		if !strings.Contains(sent, "sk-from-the-"+from) {
			t.Errorf("the server did not get what the %s says: %s", from, sent)
		}
	}
	if v.header("Authorization") != s.owner.Get("Authorization") {
		t.Errorf("the server got Authorization %q", v.header("Authorization"))
	}
	for _, text := range append(s.said, s.checked(t)) {
		for _, secret := range s.secrets {
			if before, after, found := strings.Cut(text, secret); found {
				t.Errorf("%q came out: …%s%s%.100s", secret, before[max(0, len(before)-200):], secret, after)
			}
		}
	}
}

// checked is what config check says of the file.
func (s *secretive) checked(t *testing.T) string {
	t.Helper()
	said, status := invoke(t, invocation{Args: []string{"config", "check", "FILE"}, File: s.Config, Env: s.Host.Env})
	if status != 0 {
		t.Errorf("config check: status %d, %s", status, said)
	}
	return said
}
