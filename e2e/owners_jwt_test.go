package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Tasks are the subject's, whichever of its tokens is shown; another subject's
// id is one that does not exist.
func TestTaskOfAnotherSubject(t *testing.T) {
	t.Parallel()
	i := startIssuer(t)
	p, _ := proxyAround(t, "legacy")
	p.Config = alwaysTasks + i.auth("")
	l := p.listen(t)
	alice := l.joinAs(bearer(i.token(nil)))
	id := taskOf(t, alice.ask(declared.toolCall("1", "release", `{}`)))
	finishTask(alice, id, "completed")
	l.checkForeign(t, id, bearer(i.token(claims{"sub": "bob-subject"})))
	l.kill()
	l = p.listen(t)
	later := i.token(claims{"exp": time.Now().Add(2 * time.Hour).Unix(), "aud": []string{"other", audience}})
	finishTask(l.joinAs(bearer(later)), id, "completed")
	l.checkForeign(t, id, bearer(i.token(claims{"sub": "bob-subject"})))
}

// badTokens are refused for what they say of themselves.
var badTokens = []struct {
	name    string
	changes claims
	status  int
	code    string
}{
	{"for another audience", claims{"aud": "https://other.example/mcp"}, 401, "invalid_token"},
	{"for no audience", claims{"aud": nil}, 401, "invalid_token"},
	{"for several others", claims{"aud": []string{"https://other.example/mcp", "https://third.example"}}, 401, "invalid_token"},
	{"of another issuer", claims{"iss": "https://login.example"}, 401, "invalid_token"},
	{"of nobody", claims{"sub": nil}, 401, "invalid_token"},
	{"that has expired", claims{"exp": time.Now().Add(-time.Hour).Unix()}, 401, "invalid_token"},
	{"that never expires", claims{"exp": nil}, 401, "invalid_token"},
	{"that is not valid yet", claims{"nbf": time.Now().Add(time.Hour).Unix()}, 401, "invalid_token"},
	{"without the scope", claims{"scope": "mcp.more"}, 403, "insufficient_scope"},
	{"with a longer scope", claims{"scope": "mcp.tools.read"}, 403, "insufficient_scope"},
	{"without any scope", claims{"scope": nil}, 403, "insufficient_scope"},
}

func TestTokenOfAnIssuerIsRefused(t *testing.T) {
	t.Parallel()
	i := startIssuer(t)
	p, seen := proxyAround(t, "legacy")
	p.Config = i.auth("")
	l := p.listen(t)
	for _, c := range badTokens {
		a := l.do(t, rawRequest{Body: plain.toolCall("1", "release", `{}`)}.as(bearer(i.token(c.changes))))
		all, err := oauthex.ParseWWWAuthenticate(a.Header.Values("WWW-Authenticate"))
		if err != nil || len(all) != 1 || a.Status != c.status || all[0].Params["error"] != c.code || all[0].Params["scope"] != "mcp.tools" {
			t.Errorf("a token %s: status %d, challenges %+v, %v", c.name, a.Status, all, err)
		}
	}
	i2 := startIssuer(t) // it has a key of the same name
	forged := i2.token(claims{"iss": i.URL})
	l.do(t, rawRequest{Body: plain.toolCall("1", "release", `{}`)}.as(bearer(forged))).challenged(t, "invalid_token")
	unsigned := "eyJhbGciOiJub25lIn0." + strings.Split(i.token(nil), ".")[1] + "."
	l.do(t, rawRequest{Body: plain.toolCall("1", "release", `{}`)}.as(bearer(unsigned))).challenged(t, "invalid_token")
	if lines := strings.Join(seen.received(), ""); lines != "" {
		t.Errorf("the server got %s", lines)
	}
	if m := l.joinAs(bearer(i.token(nil))).ask(plain.toolCall("1", "release", `{}`)); m.Error != nil {
		t.Errorf("a good token is refused: %s", m.Raw)
	}
}

// The issuer signs with a new key: its tokens are good as soon as the keys may
// be fetched again, and those of the former key are not any more.
func TestIssuerRotatesItsKey(t *testing.T) {
	t.Parallel()
	i := startIssuer(t)
	p, _ := proxyAround(t, "legacy")
	p.Config = i.auth(", jwks_url: " + i.URL + "/keys")
	l := p.listen(t)
	call := rawRequest{Body: plain.toolCall("1", "release", `{}`)}
	old := bearer(i.token(nil))
	if a := l.do(t, call.as(old)); a.Status != http.StatusOK {
		t.Fatalf("a good token: status %d, %s", a.Status, a.Body)
	}
	i.rotate("second")
	l.until(t, "the new key to be known", call.as(bearer(i.token(nil))), func(a rawAnswer) bool {
		if a.Status != http.StatusOK && a.Status != http.StatusUnauthorized {
			t.Errorf("meanwhile: status %d, %s", a.Status, a.Body)
		}
		return isOK(a)
	})
	l.do(t, call.as(old)).challenged(t, "invalid_token")
}

// A token that cannot be checked is no bad one: clients must not log in again,
// at an issuer that is down.
func TestIssuerIsDown(t *testing.T) {
	t.Parallel()
	i := startIssuer(t)
	i.fall(true)
	p, seen := proxyAround(t, "legacy")
	p.Config = i.auth("")
	l := p.listen(t)
	call := rawRequest{Body: plain.toolCall("1", "release", `{}`)}.as(bearer(i.token(nil)))
	a := l.do(t, call)
	if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" || a.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("status %d, %v: %s", a.Status, a.Header, a.Body)
	}
	for _, fact := range []string{"keys of the issuer", "log says why", "later", "nothing was sent"} {
		if !strings.Contains(a.Body, fact) {
			t.Errorf("the text does not say %q: %s", fact, a.Body)
		}
	}
	l.await("the log to name the issuer", func() bool { return strings.Contains(l.stderr(), i.URL) })
	if lines := strings.Join(seen.received(), ""); lines != "" {
		t.Errorf("the server got %s", lines)
	}
	i.fall(false)
	l.until(t, "the issuer to be asked again", call, isOK)
	i.fall(true)
	if a := l.do(t, call); a.Status != http.StatusOK {
		t.Errorf("with keys that were fetched a moment ago: status %d, %s", a.Status, a.Body)
	}
}

// Who has no token finds out where to get one (RFC 9728), without one: at the
// root, and behind it with the endpoint's path, where the challenge points.
func TestIssuerIsFoundFromTheChallenge(t *testing.T) {
	t.Parallel()
	i := startIssuer(t)
	p, _ := proxyAround(t, "legacy")
	p.Config = i.auth("")
	l := p.listen(t)
	at := l.do(t, rawRequest{Body: plain.toolCall("1", "release", `{}`)}).challenged(t, "")["resource_metadata"]
	const root = "/.well-known/oauth-protected-resource"
	if want := strings.TrimSuffix(l.url, "/mcp") + root + "/mcp"; at != want {
		t.Errorf("the challenge points at %q, want %q", at, want)
	}
	meta, err := oauthex.GetProtectedResourceMetadata(t.Context(), at, l.url, ownConnection(t))
	if err != nil {
		t.Fatalf("the document cannot be used: %v", err)
	}
	if !slices.Equal(meta.AuthorizationServers, []string{i.URL}) || !slices.Equal(meta.ScopesSupported, []string{"mcp.tools"}) {
		t.Errorf("the document is %+v", meta)
	}
	if a := l.do(t, rawRequest{Method: "GET", Path: root}); a.Status != http.StatusOK || !strings.Contains(a.Body, i.URL) {
		t.Errorf("at the root: status %d, %s", a.Status, a.Body)
	}
}

// Behind a proxy that ends TLS the public URL is the configured one.
func TestResourceIsTheConfiguredOne(t *testing.T) {
	t.Parallel()
	i := startIssuer(t)
	p, _ := proxyAround(t, "legacy")
	p.Config = i.auth(", resource: " + audience)
	l := p.listen(t)
	at := l.do(t, rawRequest{Body: plain.toolCall("1", "release", `{}`)}).challenged(t, "")["resource_metadata"]
	if at != "https://mcp.example/.well-known/oauth-protected-resource/mcp" {
		t.Errorf("the challenge points at %q", at)
	}
	a := l.do(t, rawRequest{Method: "GET", Path: "/.well-known/oauth-protected-resource/mcp"})
	if a.Status != http.StatusOK || !strings.Contains(a.Body, `"resource":"`+audience+`"`) {
		t.Errorf("status %d, %s", a.Status, a.Body)
	}
}
